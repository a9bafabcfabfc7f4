// SPDX-License-Identifier: Apache-2.0
// One trace file in memory: its tables, its facts and what was wrong with it; and the labels attribution gives its gpu
// work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/health.h"
#include "model/tables.h"

namespace chopper {

enum class Vendor : std::uint8_t { unknown, amd, nvidia };
std::string_view to_string(Vendor vendor);

enum class ClockDomain : std::uint8_t { unix_time, relative };
std::string_view to_string(ClockDomain clock);

/// Where a rank was read (spec 1, in this order; the user overrules).
enum class RankSource : std::uint8_t { none, metadata, process_group, file_name, user };
std::string_view to_string(RankSource source);

/// What a trace says about itself.
struct TraceFacts {
  std::string format;
  Vendor vendor = Vendor::unknown;
  std::optional<std::string> host;
  std::optional<std::int64_t> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int64_t> world_size;
  ClockDomain clock = ClockDomain::relative;
  std::int64_t quantum_ns = 1;
  std::uint64_t file_bytes = 0;   ///< on disk
  std::uint64_t text_bytes = 0;   ///< uncompressed
  std::uint64_t num_records = 0;  ///< events of every kind, those lost included
  std::uint64_t num_python_frames = 0;
  std::optional<std::int64_t> host_first_ns, host_last_ns;  ///< extent of the host records
  std::vector<DeviceFacts> devices;
};

/// The tables of one file.
struct TraceTables {
  StringTable strings;
  std::vector<Thread> threads;
  GpuWorkTable gpu_work;
  LaunchTable launches;
  HostRangeTable ranges;
  MemoryEventTable memory;
  CollectiveTable collectives;
  TraceFacts facts;
  HealthLog health;
};

/// Class of a gpu record (spec 3). COMP = gemm, attention, vector, other; COMM = comm; MEM = memcpy, memset.
enum class GpuClass : std::uint8_t { gemm, attention, vector, other, comm, memcpy, memset };
std::string_view to_string(GpuClass gpu_class);
constexpr bool is_compute(GpuClass c) { return c <= GpuClass::other; }
constexpr bool is_copy(GpuClass c) { return c >= GpuClass::memcpy; }

/// Labels of the rows of GpuWorkTable, column by column.
struct GpuWorkLabels {
  std::vector<RowId> launch;           ///< row of LaunchTable
  std::vector<RowId> range;            ///< innermost host range (operator, annotation, module) at the launch
  std::vector<RowId> operation_range;  ///< innermost operator
  std::vector<GpuClass> gpu_class;
  std::vector<std::uint8_t> comm_copy;  ///< 1 below an FSDP/DDP copy range
};

}  // namespace chopper
