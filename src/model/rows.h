// SPDX-License-Identifier: Apache-2.0
// The result tables of spec 11. A row type names its columns once, in `columns()`; the JSON and CSV writers, the JSON
// schema and the sort order all come from that list. Keys come first (`num_keys`); rows are sorted by them, null last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/health.h"

namespace chopper {

/// Why a value is null; closed, part of the JSON contract.
enum class Reason : std::uint8_t {
  rank_unknown,
  device_unknown,
  stream_unknown,
  host_unknown,
  vendor_unknown,
  no_device_facts,
  unknown_gpu,
  no_launch_record,
  first_of_chain,
  not_compute,
  zero_length,
  no_extent,
  no_records,
  no_link
};
std::string_view to_string(Reason reason);
inline constexpr Reason kAllReasons[] = {Reason::rank_unknown, Reason::device_unknown,   Reason::stream_unknown,
                                         Reason::host_unknown, Reason::vendor_unknown,   Reason::no_device_facts,
                                         Reason::unknown_gpu,  Reason::no_launch_record, Reason::first_of_chain,
                                         Reason::not_compute,  Reason::zero_length,      Reason::no_extent,
                                         Reason::no_records,   Reason::no_link};

/// A value, or the reason why there is none, or not applicable (the key is then absent).
template <class T>
class Field {
 public:
  Field() = default;
  Field(T value) : value_(std::move(value)), state_(State::present) {}   // NOLINT: implicit by design
  Field(Reason reason) : reason_(reason), state_(State::unavailable) {}  // NOLINT: implicit by design

  bool present() const { return state_ == State::present; }
  bool applicable() const { return state_ != State::absent; }
  const T& value() const { return value_; }
  Reason reason() const { return reason_; }

  /// Orders by value, null and absent last.
  friend bool operator<(const Field& a, const Field& b) {
    if (a.present() != b.present()) return a.present();
    return a.present() && a.value_ < b.value_;
  }

 private:
  enum class State : std::uint8_t { absent, present, unavailable };
  T value_{};
  Reason reason_ = Reason::rank_unknown;
  State state_ = State::absent;
};

/// Three extents as a JSON array.
struct ExtentList {
  std::uint32_t values[3] = {};
  friend auto operator<=>(const ExtentList&, const ExtentList&) = default;
};

/// One column: its name is the JSON key and the CSV header; `unit` is "" for counts, names and flags.
template <class Row, class T>
struct Column {
  std::string_view name;
  T Row::*member;
  std::string_view unit;
  std::string_view summary;
};
template <class Row, class T>
Column(std::string_view, T Row::*, std::string_view, std::string_view) -> Column<Row, T>;

struct InputRow {
  static constexpr std::string_view table = "inputs";
  static constexpr std::size_t num_keys = 1;
  std::int64_t input = 0;
  std::string path, format;
  std::int64_t bytes = 0, text_bytes = 0;
  Field<std::string> vendor, host;
  Field<std::int64_t> rank;
  std::string rank_source;
  std::int64_t records = 0;
  std::string clock;
  std::int64_t quantum_ns = 1;

  static constexpr auto columns() {
    using R = InputRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index of the input; rows of other tables refer to it"},
        Column{"path", &R::path, "", "path relative to the run"},
        Column{"format", &R::format, "", "name of the input format"}, Column{"bytes", &R::bytes, "B", "size on disk"},
        Column{"text_bytes", &R::text_bytes, "B", "uncompressed text read"},
        Column{"vendor", &R::vendor, "", "amd or nvidia"},
        Column{"host", &R::host, "", "name of the host, when the trace states it"},
        Column{"rank", &R::rank, "", "rank of the process"},
        Column{"rank_source", &R::rank_source, "", "metadata, process_group, file_name, user or none"},
        Column{"records", &R::records, "", "events of every kind, lost ones included"},
        Column{"clock", &R::clock, "", "unix or relative"},
        Column{"quantum_ns", &R::quantum_ns, "ns", "resolution of the recorded times"});
  }
};

struct GpuRow {
  static constexpr std::string_view table = "gpus";
  static constexpr std::size_t num_keys = 3;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu, gpu_ordinal;
  std::string gpu_id;
  Field<std::string> vendor, name, spec;
  std::int64_t num_kernels = 0, num_memcpy = 0, num_memset = 0, num_comm_kernels = 0;

  static constexpr auto columns() {
    using R = GpuRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"gpu_ordinal", &R::gpu_ordinal, "", "device ordinal as written"},
        Column{"gpu_id", &R::gpu_id, "", "identity of the device within the run"},
        Column{"vendor", &R::vendor, "", "amd or nvidia"}, Column{"name", &R::name, "", "product name as recorded"},
        Column{"spec", &R::spec, "", "key of the table of peaks (chopper gpus)"},
        Column{"num_kernels", &R::num_kernels, "", "kernel records"},
        Column{"num_memcpy", &R::num_memcpy, "", "memcpy records"},
        Column{"num_memset", &R::num_memset, "", "memset records"},
        Column{"num_comm_kernels", &R::num_comm_kernels, "", "kernel records of class comm"});
  }
};

struct HealthRow {
  static constexpr std::string_view table = "health";
  static constexpr std::size_t num_keys = 2;
  Field<std::int64_t> input;
  std::string kind, severity;
  std::int64_t count = 0;
  std::vector<HealthExample> examples;

  static constexpr auto columns() {
    using R = HealthRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs; absent when it concerns the run"},
        Column{"kind", &R::kind, "", "what was found; closed list"},
        Column{"severity", &R::severity, "", "note, skipped or data_loss"},
        Column{"count", &R::count, "", "occurrences"},
        Column{"examples", &R::examples, "", "the first occurrences: where (file and byte offset) and what"});
  }
};

struct CoverageRow {
  static constexpr std::string_view table = "coverage";
  static constexpr std::size_t num_keys = 3;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  Field<double> launch_records, launch_time, operator_records, operator_time, host_operator_time, class_records,
      class_time;

  static constexpr auto columns() {
    using R = CoverageRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"launch_records", &R::launch_records, "1", "share of gpu records with a launch call"},
        Column{"launch_time", &R::launch_time, "1", "share of summed duration with a launch call"},
        Column{"operator_records", &R::operator_records, "1", "share of gpu records with an operator label"},
        Column{"operator_time", &R::operator_time, "1", "share of summed duration with an operator label"},
        Column{"host_operator_time", &R::host_operator_time, "1",
               "part of operator_time whose operator contains the launch call on its thread"},
        Column{"class_records", &R::class_records, "1", "share of gpu records whose class is not other"},
        Column{"class_time", &R::class_time, "1", "share of summed duration whose class is not other"});
  }
};

struct TimelineRow {
  static constexpr std::string_view table = "timeline";
  static constexpr std::size_t num_keys = 4;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string scope = "trace";
  std::int64_t start_ns = 0, span_ns = 0, busy_ns = 0, compute_ns = 0, comm_ns = 0, memcpy_ns = 0, overlap_ns = 0,
               exposed_comm_ns = 0, exposed_comm_strict_ns = 0, exposed_memcpy_ns = 0, idle_ns = 0, comm_copy_ns = 0,
               prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0, num_no_launch = 0;

  static constexpr auto columns() {
    using R = TimelineRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"scope", &R::scope, "", "trace: all gpu work of this gpu"},
        Column{"start_ns", &R::start_ns, "ns", "first start of gpu work, absolute"},
        Column{"span_ns", &R::span_ns, "ns", "last end - first start of gpu work"},
        Column{"busy_ns", &R::busy_ns, "ns", "|COMP u COMM u MEM|"},
        Column{"compute_ns", &R::compute_ns, "ns", "|COMP|"}, Column{"comm_ns", &R::comm_ns, "ns", "|COMM|"},
        Column{"memcpy_ns", &R::memcpy_ns, "ns", "|MEM|"}, Column{"overlap_ns", &R::overlap_ns, "ns", "|COMP n COMM|"},
        Column{"exposed_comm_ns", &R::exposed_comm_ns, "ns", "|COMM \\ COMP|"},
        Column{"exposed_comm_strict_ns", &R::exposed_comm_strict_ns, "ns", "|COMM \\ (COMP without comm_copy)|"},
        Column{"exposed_memcpy_ns", &R::exposed_memcpy_ns, "ns", "|MEM \\ (COMP u COMM)|"},
        Column{"idle_ns", &R::idle_ns, "ns", "span - busy"},
        Column{"comm_copy_ns", &R::comm_copy_ns, "ns", "|work under FSDP/DDP copy ranges|"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1: gap before a COMP kernel while the host had not launched it"},
        Column{"call_ns", &R::call_ns, "ns", "equation 2: rest of the gap, from the launch call to the start"},
        Column{"prep_idle_ns", &R::prep_idle_ns, "ns", "part of prep with the device idle"},
        Column{"call_idle_ns", &R::call_idle_ns, "ns", "part of call with the device idle"},
        Column{"num_no_launch", &R::num_no_launch, "", "COMP kernels without launch record: in neither prep nor call"});
  }
};

struct KernelSummaryRow {
  static constexpr std::string_view table = "kernel_summary";
  static constexpr std::size_t num_keys = 7;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string name, gpu_class;
  Field<ExtentList> grid, block;
  std::int64_t num = 0, total_ns = 0, min_ns = 0, p50_ns = 0, p95_ns = 0, max_ns = 0;

  static constexpr auto columns() {
    using R = KernelSummaryRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"}, Column{"name", &R::name, "", "kernel name"},
        Column{"class", &R::gpu_class, "", "gemm, attention, vector, other, comm, memcpy or memset"},
        Column{"grid", &R::grid, "", "thread blocks in x, y, z"}, Column{"block", &R::block, "", "threads in x, y, z"},
        Column{"num", &R::num, "", "launches"}, Column{"total_ns", &R::total_ns, "ns", "sum of durations"},
        Column{"min_ns", &R::min_ns, "ns", "shortest"}, Column{"p50_ns", &R::p50_ns, "ns", "median"},
        Column{"p95_ns", &R::p95_ns, "ns", "95th percentile"}, Column{"max_ns", &R::max_ns, "ns", "longest"});
  }
};

/// A gpu record with its labels: `kernels` (kernel records) and `copies` (memcpy and memset records), with --kernels.
struct KernelRow {
  static constexpr std::string_view table = "kernels";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::int64_t start_ns = 0, offset = 0;
  std::string name, gpu_class;
  bool comm_copy = false;
  std::int64_t duration_ns = 0;
  Field<std::int64_t> stream, correlation, bytes;
  Field<ExtentList> grid, block;
  Field<std::string> launch_call, range, operator_name;
  Field<std::int64_t> launch_ns, launch_delay_ns, prep_ns, call_ns;
  std::int64_t overlap_ns = 0;
  Field<double> overlap_ratio;

  static constexpr auto columns() {
    using R = KernelRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"start_ns", &R::start_ns, "ns", "start, absolute"},
        Column{"offset", &R::offset, "B", "byte offset of the event in the uncompressed text"},
        Column{"name", &R::name, "", "name of the record"}, Column{"class", &R::gpu_class, "", "class, spec 3"},
        Column{"comm_copy", &R::comm_copy, "", "below an FSDP/DDP copy range"},
        Column{"duration_ns", &R::duration_ns, "ns", "end - start"},
        Column{"stream", &R::stream, "", "stream or queue as written"},
        Column{"correlation", &R::correlation, "", "correlation id"}, Column{"bytes", &R::bytes, "B", "bytes copied"},
        Column{"grid", &R::grid, "", "thread blocks in x, y, z"}, Column{"block", &R::block, "", "threads in x, y, z"},
        Column{"launch_call", &R::launch_call, "", "runtime or driver call that launched it"},
        Column{"range", &R::range, "", "innermost host range at the call"},
        Column{"operator", &R::operator_name, "", "innermost operator at the call"},
        Column{"launch_ns", &R::launch_ns, "ns", "start of the launch call, absolute"},
        Column{"launch_delay_ns", &R::launch_delay_ns, "ns", "start - start of the launch call, signed"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1"}, Column{"call_ns", &R::call_ns, "ns", "equation 2"},
        Column{"overlap_ns", &R::overlap_ns, "ns", "|[start, end) n COMM|"},
        Column{"overlap_ratio", &R::overlap_ratio, "1", "overlap / duration"});
  }
};

/// Orders two rows by their key columns.
template <class Row, std::size_t I = 0>
bool key_less(const Row& a, const Row& b) {
  if constexpr (I >= Row::num_keys) {
    return false;
  } else {
    const auto column = std::get<I>(Row::columns());
    if (a.*column.member < b.*column.member) return true;
    if (b.*column.member < a.*column.member) return false;
    return key_less<Row, I + 1>(a, b);
  }
}

}  // namespace chopper
