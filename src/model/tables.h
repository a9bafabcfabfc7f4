// SPDX-License-Identifier: Apache-2.0
// The columnar tables of one trace file. Each table is a struct of equally long vectors and names its columns once, in
// `columns()`: appending, reordering and memory accounting are generic over that list. Times are absolute int64
// nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/string_table.h"

namespace chopper {

/// A (pid, tid) of the file; index into TraceTables::threads.
enum class ThreadId : std::uint32_t {};
constexpr std::uint32_t index_of(ThreadId id) { return static_cast<std::uint32_t>(id); }

/// A row of a table, or none.
enum class RowId : std::uint32_t {};
inline constexpr RowId kNoRow{0xffffffffu};
constexpr std::uint32_t index_of(RowId id) { return static_cast<std::uint32_t>(id); }

inline constexpr std::int64_t kNoId = 0;              ///< correlation: none
inline constexpr std::int64_t kNoNumber = INT64_MIN;  ///< any other integer argument that is not there
inline constexpr std::int32_t kUnknownDevice = -1;    ///< device neither in args nor as pid

/// Category of a gpu record, as written.
enum class GpuCategory : std::uint8_t { kernel, memcpy, memset };
/// What opened a host range.
enum class RangeKind : std::uint8_t { operation, annotation, module };
/// The interface a launch call went through.
enum class CallKind : std::uint8_t { runtime, driver };

/// Three extents of a launch, packed to be interned: 0 where unknown.
struct Extent {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
  friend auto operator<=>(const Extent&, const Extent&) = default;
  bool known() const { return x != 0 || y != 0 || z != 0; }
};

/// Kernels, copies and fills.
struct GpuWorkTable {
  std::vector<StringId> name;
  std::vector<GpuCategory> category;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int32_t> device;
  std::vector<std::int64_t> stream;
  std::vector<std::int64_t> correlation;
  std::vector<std::int64_t> bytes;
  std::vector<Extent> grid;
  std::vector<Extent> block;
  std::vector<RowId> collective;      ///< row of CollectiveTable, or none
  std::vector<std::uint64_t> offset;  ///< byte offset of the event in the uncompressed text

  static constexpr auto columns() {
    using T = GpuWorkTable;
    return std::make_tuple(&T::name, &T::category, &T::start_ns, &T::duration_ns, &T::device, &T::stream,
                           &T::correlation, &T::bytes, &T::grid, &T::block, &T::collective, &T::offset);
  }
};

/// Runtime and driver calls of the host.
struct LaunchTable {
  std::vector<StringId> name;
  std::vector<CallKind> kind;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<ThreadId> thread;
  std::vector<std::int64_t> correlation;
  std::vector<std::uint64_t> offset;

  static constexpr auto columns() {
    using T = LaunchTable;
    return std::make_tuple(&T::name, &T::kind, &T::start_ns, &T::duration_ns, &T::thread, &T::correlation, &T::offset);
  }
};

/// Operators, annotations and module frames of the host.
struct HostRangeTable {
  std::vector<StringId> name;
  std::vector<RangeKind> kind;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<ThreadId> thread;
  std::vector<std::int64_t> sequence_number;
  std::vector<std::int64_t> forward_thread;
  std::vector<StringId> shapes;   ///< "Input Dims" of an operator as written, or none
  std::vector<StringId> types;    ///< "Input type" as written, or none
  std::vector<StringId> values;   ///< "Concrete Inputs" of attention and convolutions as written, or none
  std::vector<RowId> collective;  ///< row of CollectiveTable of `record_param_comms`, or none
  std::vector<std::uint64_t> offset;

  static constexpr auto columns() {
    using T = HostRangeTable;
    return std::make_tuple(&T::name, &T::kind, &T::start_ns, &T::duration_ns, &T::thread, &T::sequence_number,
                           &T::forward_thread, &T::shapes, &T::types, &T::values, &T::collective, &T::offset);
  }
};

/// "[memory]" instants of the allocator.
struct MemoryEventTable {
  std::vector<std::int64_t> time_ns;
  std::vector<std::int64_t> address;
  std::vector<std::int64_t> bytes;            ///< signed: negative frees
  std::vector<std::int64_t> allocated_bytes;  ///< total after the event
  std::vector<std::int64_t> reserved_bytes;
  std::vector<std::int32_t> device;
  std::vector<ThreadId> thread;
  std::vector<std::uint64_t> offset;

  static constexpr auto columns() {
    using T = MemoryEventTable;
    return std::make_tuple(&T::time_ns, &T::address, &T::bytes, &T::allocated_bytes, &T::reserved_bytes, &T::device,
                           &T::thread, &T::offset);
  }
};

/// What a record says about the collective it belongs to; one row per gpu record or host operator with such arguments.
struct CollectiveTable {
  std::vector<StringId> kind;         ///< "allreduce", as written
  std::vector<StringId> group;        ///< process group name
  std::vector<StringId> description;  ///< process group description, as written
  std::vector<StringId> ranks;        ///< process group ranks, as written
  std::vector<StringId> dtype;
  std::vector<std::int64_t> group_size;
  std::vector<std::int64_t> in_elements;
  std::vector<std::int64_t> out_elements;
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> source, destination;  ///< ranks of a point-to-point transfer

  static constexpr auto columns() {
    using T = CollectiveTable;
    return std::make_tuple(&T::kind, &T::group, &T::description, &T::ranks, &T::dtype, &T::group_size, &T::in_elements,
                           &T::out_elements, &T::sequence, &T::source, &T::destination);
  }
};

/// A host thread; pid and tid as written, text ones as well.
struct Thread {
  std::string pid;
  std::string tid;
};

/// A device as the trace describes it.
struct DeviceFacts {
  std::int64_t id = kNoNumber;
  std::string name;
  std::int64_t warp_size = kNoNumber;
  std::int64_t num_units = kNoNumber;  ///< SMs or CUs
  std::int64_t memory_bytes = kNoNumber;
  std::int64_t compute_major = kNoNumber, compute_minor = kNoNumber;  ///< of NVIDIA: 9 and 0 are "sm_90"
};

// ---- generic operations ----

/// Calls `f(vector)` for every column of `table`.
template <class Table, class F>
void for_each_column(Table& table, F&& f) {
  std::apply([&](auto... member) { (f(table.*member), ...); }, std::remove_const_t<Table>::columns());
}

/// Returns the number of rows; every column has as many.
template <class Table>
std::size_t num_rows(const Table& table) {
  return (table.*std::get<0>(Table::columns())).size();
}

/// Keeps the rows for which `keep[row]` is not 0, in order.
template <class Table>
void keep_rows(Table& table, const std::vector<std::uint8_t>& keep) {
  for_each_column(table, [&](auto& column) {
    CHOPPER_CHECK(column.size() == keep.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < column.size(); i++) {
      if (keep[i] != 0) column[kept++] = column[i];
    }
    column.resize(kept);
  });
}

}  // namespace chopper
