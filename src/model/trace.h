// SPDX-License-Identifier: Apache-2.0
// One trace file in memory: its tables, its facts and what was wrong with it; and the labels attribution gives its gpu
// work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/counters.h"
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
  bool unique_correlations = false;  ///< a correlation is of one process only, in a file of several
  std::int64_t quantum_ns = 1;
  std::uint64_t file_bytes = 0;   ///< on disk
  std::uint64_t text_bytes = 0;   ///< uncompressed
  std::uint64_t num_records = 0;  ///< events of every kind, those lost included
  bool has_offsets = true;        ///< offsets are bytes of the text; else numbers of records, in order of reading
  std::uint64_t num_python_frames = 0;
  std::optional<std::int64_t> host_first_ns, host_last_ns;  ///< extent of the host records
  std::vector<DeviceFacts> devices;
};

/// Names a record for people: "file @ byte 17", or "file, record 17".
std::string place_of(std::string_view shown, const TraceFacts& facts, std::uint64_t offset);

/// The tables of one file: of a trace, or of a counter pass.
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
  std::optional<CounterPass> pass;      ///< what a file of counters holds; the tables above are then empty
  std::optional<CounterPass> counters;  ///< what a trace counted besides, in the same execution
};

/// Class of a gpu record (spec 3). COMP = gemm, attention, vector, other; COMM = comm; MEM = memcpy, memset.
enum class GpuClass : std::uint8_t { gemm, attention, vector, other, comm, memcpy, memset };
std::string_view to_string(GpuClass gpu_class);
constexpr bool is_compute(GpuClass c) { return c <= GpuClass::other; }
constexpr bool is_copy(GpuClass c) { return c >= GpuClass::memcpy; }

/// Phase of gpu work (spec 4).
enum class Phase : std::uint8_t { forward, backward, optimizer, other, unlabelled };
std::string_view to_string(Phase phase);

/// What gave a label (docs/reference/attribution.md). `none`: there is no label.
enum class LabelRule : std::uint8_t {
  none,
  annotation,     ///< a range of the user: `Layer3`, `attn_n`, `## forward ##`
  module_path,    ///< a path in a name: `FSDP::pre_forward (model.layers.3)`
  module_class,   ///< a module frame: `nn.Module: LlamaAttention_3`
  engine,         ///< the autograd engine, its thread or its node
  optimizer,      ///< the optimizer and what surrounds it
  forward_link,   ///< the forward operator with the same thread and sequence number
  sequence,       ///< place in a known sequence of kernels (data/operations)
  order,          ///< place among its like: the third bucket, the fifth gather
  repetition,     ///< repeated part of the launch sequence
  collective,     ///< what the host says about a collective
  operator_name,  ///< name of the outermost operator
  host_range,     ///< linked, but below none of the above
  stream_order,   ///< correlation 0: order on its stream and name
  count_
};
inline constexpr std::size_t kNumLabelRules = static_cast<std::size_t>(LabelRule::count_);
std::string_view to_string(LabelRule rule);

inline constexpr std::int32_t kOutsideLayers = -1;  ///< known to belong to no repeated block
inline constexpr std::int32_t kUnknownLayer = -2;
inline constexpr std::int32_t kHeadIteration = -1;  ///< launched before the first mark
inline constexpr std::int32_t kTailIteration = -2;  ///< launched after the last
inline constexpr std::int32_t kNoIteration = -3;    ///< no launch record

/// What delimits iterations (spec 4), in order of preference.
enum class MarkKind : std::uint8_t { user, iteration, profiler_step, optimizer, periodic, none };
std::string_view to_string(MarkKind kind);

/// The iterations of a trace, in order.
struct IterationMarks {
  struct Mark {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;          ///< of the mark itself
    std::int64_t number = kNoNumber;  ///< as written
    bool closed = true;               ///< its end was recorded
    std::int64_t micro_steps = 0;     ///< forward-backward passes
    std::int64_t num_launches = 0;    ///< kernel launches made in it
    std::int64_t num_unanswered = 0;  ///< those without gpu record
  };
  MarkKind kind = MarkKind::none;
  std::vector<Mark> marks;
};

/// What is known of a collective. One row per gpu record of class comm.
struct CollectiveLabels {
  std::vector<std::uint32_t> gpu_row;        ///< row of GpuWorkTable
  std::vector<StringId> group, description;  ///< process group, or none
  std::vector<StringId> ranks;               ///< as written, or none
  std::vector<std::int64_t> group_size, sequence, bytes;
  std::vector<std::int64_t> source, destination;  ///< ranks of a point-to-point transfer
  std::vector<std::int32_t> launch_layer;

  static constexpr auto columns() {
    using T = CollectiveLabels;
    return std::make_tuple(&T::gpu_row, &T::group, &T::description, &T::ranks, &T::group_size, &T::sequence, &T::bytes,
                           &T::source, &T::destination, &T::launch_layer);
  }
};

/// Labels of the rows of GpuWorkTable, column by column.
struct GpuWorkLabels {
  std::vector<RowId> launch;           ///< row of LaunchTable
  std::vector<RowId> range;            ///< innermost host range (operator, annotation, module) at the launch
  std::vector<RowId> operation_range;  ///< innermost operator
  std::vector<GpuClass> gpu_class;
  std::vector<std::uint8_t> comm_copy;  ///< 1 below an FSDP/DDP copy range
  std::vector<std::int32_t> iteration;  ///< index into `iterations.marks`, or k*Iteration
  std::vector<Phase> phase;
  std::vector<std::int32_t> layer;      ///< or k*Layers
  std::vector<StringId> operation;      ///< in `operations`, without the phase prefix; kNoString: unlabelled
  std::vector<std::uint8_t> recompute;  ///< 1: forward work repeated in the backward pass
  std::vector<std::uint8_t> graph;      ///< 1: launched by a graph launch
  std::vector<std::uint32_t> instance;  ///< equal for the kernels of one execution of an operation
  std::vector<LabelRule> phase_rule, layer_rule, operation_rule;
  StringTable operations;  ///< names of operations
  IterationMarks iterations;
  CollectiveLabels collectives;
};

}  // namespace chopper
