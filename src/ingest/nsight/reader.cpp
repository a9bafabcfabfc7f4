// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/reader.h"
#include "ingest/file_head.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/nsight/names.h"
#include "ingest/sqlite/database.h"
#include "ingest/sqlite/trace_rows.h"

namespace chopper::nsight {
namespace {

using sqlite::Column;
using sqlite::Database;
using sqlite::Relation;
using sqlite::Scan;
using sqlite::SpanTimes;

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;  // sums of spans stay inside int64

// Kinds of NVTX_EVENTS that are spans or instants; the last two come from text files of the user.
enum EventType : std::int64_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kTextPushPop = 70, kTextStartEnd = 71 };

// The columns that rows of every table begin with, and those behind them.
constexpr Column kStart{"start"}, kEnd{"end"}, kCorrelation{"correlationId"};
constexpr std::size_t kStartColumn = 0, kEndColumn = 1;

class Reader {
 public:
  Reader(const Database& database, std::string_view shown) : database_(database), shown_(shown) {}

  TraceTables read() {
    tables_.facts.has_offsets = false;
    database_.add_notes(tables_.health);
    read_strings();
    read_machine();
    read_calls("CUPTI_ACTIVITY_KIND_RUNTIME");
    read_calls("CUPTI_ACTIVITY_KIND_DRIVER");  // in old exports
    read_ranges();
    read_gpu_work();
    close_open_ranges();
    sqlite::set_aside_outside_host(tables_, shown_);
    count_what_is_not_read();
    set_facts();
    return std::move(tables_);
  }

 private:
  // ---- accounting ----

  void count(HealthKind kind, const Scan& scan, std::string_view what) {
    add_at(tables_.health, kind, shown_, scan, what);
  }
  std::uint64_t next_offset() { return tables_.facts.num_records++; }

  template <class Row>
  void for_each_row(std::string_view table, std::span<const Column> columns, const Row& row) {
    const Relation* relation = database_.find(table);
    if (relation == nullptr) return;
    Scan scan(database_, *relation, columns);
    while (scan.next()) row(scan);
    scan.add_damage(shown_, tables_.health);
  }

  // ---- names, threads, processes ----

  void read_strings() {
    constexpr Column kColumns[] = {{"id"}, {"value"}};
    for_each_row("StringIds", kColumns, [&](const Scan& scan) {
      if (const auto id = scan.integer(0)) texts_.try_emplace(*id, scan.text(1));
    });
  }

  // The first of the columns that leads to a text.
  std::string_view text_of(const Scan& scan, std::initializer_list<std::size_t> columns) {
    for (const std::size_t column : columns) {
      const std::optional<std::int64_t> id = scan.integer(column);
      if (!id) continue;
      const auto found = texts_.find(*id);
      if (found != texts_.end() && !found->second.empty()) return found->second;
    }
    return {};
  }

  StringId name_of(const Scan& scan, std::string_view text, std::string_view unknown) {
    if (text.empty()) {
      count(HealthKind::missing_field, scan, "no name");
      text = unknown;
    }
    return tables_.strings.intern(text);
  }

  // A thread is a number of host, process and thread in one; a process is the same without the last.
  ThreadId thread_of(std::int64_t global_thread) {
    const auto [at, is_new] = threads_.try_emplace(global_thread, static_cast<std::uint32_t>(tables_.threads.size()));
    if (is_new) {
      const auto bits = static_cast<std::uint64_t>(global_thread);
      const std::uint64_t machine = bits >> 48;
      if (tables_.threads.empty()) first_machine_ = machine;
      const std::string prefix = machine == first_machine_ ? "" : std::to_string(machine) + "/";
      tables_.threads.push_back({prefix + std::to_string(bits >> 24 & 0xffffff), std::to_string(bits & 0xffffff)});
    }
    return ThreadId{at->second};
  }

  // Correlations count up in each process by itself. Where records say which process they are of, its number becomes
  // the upper half, so that a file of several processes has each correlation once.
  std::int64_t correlation_of(const Scan& scan, std::size_t column, std::optional<std::int64_t> process) {
    const std::optional<std::int64_t> id = scan.integer(column);
    if (!id || *id <= 0 || *id > UINT32_MAX) return kNoId;
    if (!scoped_ || !process) return *id;
    const auto [at, is_new] = processes_.try_emplace(*process >> 24, static_cast<std::int64_t>(processes_.size()));
    return at->second << 32 | *id;
  }

  std::optional<SpanTimes> span_of(const Scan& scan, bool is_gpu) {
    const auto span = read_span(scan, kStartColumn, kEndColumn, base_ns_, is_gpu, shown_, tables_.health);
    if (span) last_ns_ = std::max(last_ns_, span->start_ns + span->duration_ns);
    return span;
  }

  // ---- tables ----

  void read_machine() {
    TraceFacts& facts = tables_.facts;
    constexpr Column kSession[] = {{"utcEpochNs"}};
    for_each_row("TARGET_INFO_SESSION_START_TIME", kSession, [&](const Scan& scan) {
      const std::optional<std::int64_t> base = scan.integer(0);
      // Several reports in one export begin at different times, of which the first one is that of the rows.
      if (facts.clock == ClockDomain::unix_time || !base || *base <= 0 || *base >= kTimeLimit / 2) return;
      base_ns_ = *base;
      facts.clock = ClockDomain::unix_time;
    });
    constexpr Column kGpu[] = {{"id"},          {"name"},         {"threadsPerWarp"}, {"smCount"},
                               {"totalMemory"}, {"computeMajor"}, {"computeMinor"}};
    for_each_row("TARGET_INFO_GPU", kGpu, [&](const Scan& scan) {
      DeviceFacts device;
      device.id = scan.integer(0).value_or(kNoNumber);
      device.name = scan.text(1);
      for (const auto& [column, number] :
           {std::pair{2u, &device.warp_size}, std::pair{3u, &device.num_units}, std::pair{4u, &device.memory_bytes}}) {
        const std::int64_t value = scan.integer(column).value_or(0);
        if (value > 0) *number = value;
      }
      device.compute_major = scan.integer(5).value_or(kNoNumber);
      device.compute_minor = scan.integer(6).value_or(kNoNumber);
      if (device.id != kNoNumber) facts.devices.push_back(std::move(device));
    });
    constexpr Column kVisible[] = {{"pid"}, {"cudaId"}, {"gpuId"}};
    for_each_row("TARGET_INFO_CUDA_DEVICE", kVisible, [&](const Scan& scan) {
      const auto process = scan.integer(0), device = scan.integer(1), gpu = scan.integer(2);
      if (process && device && gpu) gpus_.try_emplace({*process, *device}, *gpu);
    });
    constexpr Column kEnvironment[] = {{"name"}, {"value"}};
    for_each_row("TARGET_INFO_SYSTEM_ENV", kEnvironment, [&](const Scan& scan) {
      if (!facts.host && scan.text(0) == "Hostname" && !scan.text(1).empty()) facts.host = scan.text(1);
    });
    for (const std::string_view table : kKernelTables) {
      const Relation* relation = database_.find(table);
      scoped_ = scoped_ || (relation != nullptr && relation->has("globalPid"));
    }
  }

  void read_calls(std::string_view table) {
    constexpr Column kColumns[] = {kStart, kEnd, kCorrelation, {"globalTid"}, {"nameId"}};
    for_each_row(table, kColumns, [&](const Scan& scan) {
      const std::uint64_t offset = next_offset();
      const std::optional<SpanTimes> span = span_of(scan, false);
      if (!span) return;
      if (span->is_open) count(HealthKind::missing_duration, scan, "no end");
      const std::optional<std::int64_t> thread = scan.integer(3);
      if (!thread) count(HealthKind::missing_field, scan, "no globalTid");
      const std::string_view name = call_name(text_of(scan, {4}));
      LaunchTable& t = tables_.launches;
      t.name.push_back(name_of(scan, name, "unknown"));
      t.kind.push_back(call_kind(name));
      t.start_ns.push_back(span->start_ns);
      t.duration_ns.push_back(span->duration_ns);
      t.thread.push_back(thread_of(thread.value_or(0)));
      t.correlation.push_back(correlation_of(scan, 2, thread));
      t.offset.push_back(offset);
      sqlite::include_host(tables_.facts, span->start_ns, span->start_ns + span->duration_ns);
    });
  }

  void read_ranges() {
    constexpr Column kColumns[] = {kStart, kEnd, {"eventType"}, {"globalTid"}, {"text"}, {"textId"}};
    for_each_row("NVTX_EVENTS", kColumns, [&](const Scan& scan) {
      const std::int64_t type = scan.integer(2).value_or(kPushPop);
      const bool is_span = type == kPushPop || type == kStartEnd || type == kTextPushPop || type == kTextStartEnd;
      if (!is_span && type != kMark) return;  // names of domains, categories, resources
      const std::uint64_t offset = next_offset();
      const std::optional<SpanTimes> span = span_of(scan, false);
      if (!span) return;
      if (span->is_open && is_span) {
        open_ranges_.push_back(num_rows(tables_.ranges));
        count(HealthKind::unclosed_span, scan, "no end");
      }
      const std::optional<std::int64_t> thread = scan.integer(3);
      if (!thread) count(HealthKind::missing_field, scan, "no globalTid");
      std::string_view message = scan.text(4);
      if (message.empty()) message = text_of(scan, {5});
      const RangeName range = parse_range(message);
      HostRangeTable& t = tables_.ranges;
      // A range without a message, such as one of registered strings that were not exported, is a range all the same.
      t.name.push_back(tables_.strings.intern(range.name));
      t.kind.push_back(range.kind);
      t.start_ns.push_back(span->start_ns);
      t.duration_ns.push_back(span->duration_ns);
      t.thread.push_back(thread_of(thread.value_or(0)));
      t.sequence_number.push_back(range.sequence_number);
      t.forward_thread.push_back(kNoNumber);
      t.shapes.push_back(range.shapes.empty() ? kNoString : tables_.strings.intern(range.shapes));
      t.types.push_back(kNoString);
      t.values.push_back(kNoString);
      t.collective.push_back(kNoRow);
      t.offset.push_back(offset);
      sqlite::include_host(tables_.facts, span->start_ns, span->start_ns + span->duration_ns);
    });
  }

  // What gpu work of all kinds has. Returns whether the row can be kept; if not, it has been counted.
  static constexpr std::size_t kProcess = 3, kDevice = 4, kStream = 5, kFirstOwn = 6;
  template <std::size_t N>
  static constexpr std::array<Column, kFirstOwn + N> gpu_columns(const Column (&own)[N]) {
    std::array<Column, kFirstOwn + N> all = {kStart, kEnd, kCorrelation, {"globalPid"}, {"deviceId"}, {"streamId"}};
    for (std::size_t i = 0; i < N; i++) all[kFirstOwn + i] = own[i];
    return all;
  }
  bool add_gpu_work(const Scan& scan, GpuCategory category) {
    const std::uint64_t offset = next_offset();
    const std::optional<SpanTimes> span = span_of(scan, true);
    if (!span) return false;
    const std::optional<std::int64_t> process = scan.integer(kProcess);
    GpuWorkTable& t = tables_.gpu_work;
    t.category.push_back(category);
    t.start_ns.push_back(span->start_ns);
    t.duration_ns.push_back(span->duration_ns);
    t.device.push_back(device_of(scan, process));
    t.stream.push_back(scan.integer(kStream).value_or(kNoNumber));
    t.correlation.push_back(correlation_of(scan, 2, process));
    t.collective.push_back(kNoRow);
    t.offset.push_back(offset);
    return true;
  }

  // A process counts the gpus it can see; the machine counts all of them.
  std::int32_t device_of(const Scan& scan, std::optional<std::int64_t> process) {
    std::optional<std::int64_t> device = scan.integer(kDevice);
    if (device && process) {
      const auto found = gpus_.find({*process >> 24 & 0xffffff, *device});
      if (found != gpus_.end()) device = found->second;
    }
    if (device && *device >= 0 && *device <= INT32_MAX) return static_cast<std::int32_t>(*device);
    count(HealthKind::missing_field, scan, "no deviceId");
    return kUnknownDevice;
  }

  static Extent extent_of(const Scan& scan, std::size_t first) {
    const auto part = [&](std::size_t column) {
      const std::int64_t value = scan.integer(column).value_or(0);
      return value > 0 && value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : 0;
    };
    return {part(first), part(first + 1), part(first + 2)};
  }

  void read_gpu_work() {
    GpuWorkTable& t = tables_.gpu_work;
    constexpr auto kKernel = gpu_columns({{"demangledName"},
                                          {"shortName"},
                                          {"mangledName"},
                                          {"gridX"},
                                          {"gridY"},
                                          {"gridZ"},
                                          {"blockX"},
                                          {"blockY"},
                                          {"blockZ"}});
    for (const std::string_view table : kKernelTables) {
      for_each_row(table, kKernel, [&](const Scan& scan) {
        if (!add_gpu_work(scan, GpuCategory::kernel)) return;
        t.name.push_back(name_of(scan, text_of(scan, {kFirstOwn, kFirstOwn + 1, kFirstOwn + 2}), "unknown_kernel"));
        t.bytes.push_back(kNoNumber);
        t.grid.push_back(extent_of(scan, kFirstOwn + 3));
        t.block.push_back(extent_of(scan, kFirstOwn + 6));
      });
    }
    const auto add_memory = [&](const Scan& scan, GpuCategory category, const std::string& name) {
      if (!add_gpu_work(scan, category)) return;
      t.name.push_back(tables_.strings.intern(name));
      t.bytes.push_back(scan.integer(kFirstOwn).value_or(kNoNumber));
      t.grid.emplace_back();
      t.block.emplace_back();
    };
    const auto number = [](const Scan& scan, std::size_t column) { return scan.integer(column).value_or(kNoNumber); };
    constexpr auto kCopy = gpu_columns({{"bytes"}, {"copyKind"}, {"srcKind"}, {"dstKind"}});
    for_each_row("CUPTI_ACTIVITY_KIND_MEMCPY", kCopy, [&](const Scan& scan) {
      add_memory(scan, GpuCategory::memcpy,
                 copy_name(number(scan, kFirstOwn + 1), number(scan, kFirstOwn + 2), number(scan, kFirstOwn + 3)));
    });
    constexpr auto kFill = gpu_columns({{"bytes"}, {"memKind"}});
    for_each_row("CUPTI_ACTIVITY_KIND_MEMSET", kFill, [&](const Scan& scan) {
      add_memory(scan, GpuCategory::memset, fill_name(number(scan, kFirstOwn + 1)));
    });
  }

  // ---- what needs all of the tables ----

  void close_open_ranges() {
    HostRangeTable& t = tables_.ranges;
    for (const std::size_t row : open_ranges_) {
      t.duration_ns[row] = std::max<std::int64_t>(0, last_ns_ - t.start_ns[row]);
      if (t.duration_ns[row] >= kTimeLimit) t.duration_ns[row] = 0;
      sqlite::include_host(tables_.facts, t.start_ns[row], t.start_ns[row] + t.duration_ns[row]);
    }
  }

  void count_what_is_not_read() {
    constexpr Column kGraph[] = {kStart, kEnd, {"graphId"}};
    std::uint64_t num_launches = 0;
    std::set<std::int64_t> graphs;
    for_each_row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraph, [&](const Scan& scan) {
      num_launches++;
      next_offset();
      if (const auto graph = scan.integer(2)) graphs.insert(*graph);
    });
    tables_.health.add(HealthKind::graph_kernels_hidden, std::string(shown_),
                       std::to_string(num_launches) + (num_launches == 1 ? " launch of " : " launches of ") +
                           std::to_string(graphs.size()) + (graphs.size() == 1 ? " graph: record" : " graphs: record") +
                           " with nsys profile --cuda-graph-trace=node",
                       num_launches);
    constexpr Column kMetric[] = {{"metricId", "count(*)"}};
    for_each_row("GPU_METRICS", kMetric, [&](const Scan& scan) {
      tables_.health.add(HealthKind::rows_not_read, std::string(shown_) + ", table GPU_METRICS",
                         "samples of metrics of gpus", static_cast<std::uint64_t>(scan.integer(0).value_or(0)));
    });
  }

  void set_facts() {
    TraceFacts& facts = tables_.facts;
    facts.vendor = Vendor::nvidia;
    facts.quantum_ns = 1;
    facts.unique_correlations = scoped_;
    // A record has a number where formats of text have an offset; a damaged database may have more records than bytes.
    facts.text_bytes = std::max(database_.size_bytes(), facts.num_records + 1);
    if (num_rows(tables_.gpu_work) == 0) {
      tables_.health.add(HealthKind::no_gpu_records, std::string(shown_),
                         "no kernel, copy or fill: record with nsys profile --trace=cuda,nvtx");
    } else if (facts.clock == ClockDomain::relative) {
      tables_.health.add(HealthKind::relative_clock, std::string(shown_), "no TARGET_INFO_SESSION_START_TIME");
    }
  }

  static constexpr std::string_view kKernelTables[] = {
      "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"};  // the second in old exports

  const Database& database_;
  std::string_view shown_;
  TraceTables tables_;
  std::unordered_map<std::int64_t, std::string> texts_;                 // StringIds
  std::unordered_map<std::int64_t, std::uint32_t> threads_;             // globalTid to row of TraceTables::threads
  std::unordered_map<std::int64_t, std::int64_t> processes_;            // globalPid without its lower bits, to a number
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpus_;  // (pid, number of the process) to gpu
  std::vector<std::size_t> open_ranges_;
  std::uint64_t first_machine_ = 0;
  std::int64_t base_ns_ = 0;
  std::int64_t last_ns_ = INT64_MIN;
  bool scoped_ = false;
};

}  // namespace

Result<TraceTables> read_export(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const std::string head, file_head(open, kSystemsReportMagic.size()));
  if (head == kSystemsReportMagic)
    return Error{ErrorCode::unrecognised,
                 "a report that only Nsight Systems reads: export it with nsys export --type sqlite FILE",
                 std::string(shown), "nsys export --type sqlite " + std::string(shown)};
  CHOPPER_TRY(const Database database, Database::open(open, shown, options));
  TraceTables tables = Reader(database, shown).read();
  database.publish_progress(options);
  return tables;
}

}  // namespace chopper::nsight
