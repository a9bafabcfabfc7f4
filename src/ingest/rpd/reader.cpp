// SPDX-License-Identifier: Apache-2.0
#include "ingest/rpd/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ingest/sqlite/database.h"
#include "ingest/sqlite/trace_rows.h"

namespace chopper::rpd {
namespace {

using sqlite::Column;
using sqlite::Database;
using sqlite::Relation;
using sqlite::Scan;
using sqlite::SpanTimes;

// What a range of the user is called; its message is in the arguments.
constexpr std::string_view kUserMarker = "UserMarker";

class Reader {
 public:
  Reader(const Database& database, std::string_view shown) : database_(database), shown_(shown) {}

  TraceTables read() {
    tables_.facts.has_offsets = false;
    database_.add_notes(tables_.health);
    read_texts();
    read_calls();
    read_links();
    read_gpu_work();
    sqlite::set_aside_outside_host(tables_, shown_);
    set_facts();
    return std::move(tables_);
  }

 private:
  template <class Row>
  void for_each_row(std::string_view table, std::span<const Column> columns, const Row& row) {
    const Relation* relation = database_.find(table);
    if (relation == nullptr) return;
    Scan scan(database_, *relation, columns);
    while (scan.next()) row(scan);
    scan.add_damage(shown_, tables_.health);
  }
  void count(HealthKind kind, const Scan& scan, std::string_view what) {
    add_at(tables_.health, kind, shown_, scan, what);
  }
  std::uint64_t next_offset() { return tables_.facts.num_records++; }

  void read_texts() {
    constexpr Column kColumns[] = {{"id"}, {"string"}};
    for_each_row("rocpd_string", kColumns, [&](const Scan& scan) {
      if (const auto id = scan.integer(0)) texts_.try_emplace(*id, scan.text(1));
    });
  }
  std::string_view text_of(const Scan& scan, std::size_t column) const {
    const auto found = texts_.find(scan.integer(column).value_or(kNoNumber));
    return found == texts_.end() ? std::string_view() : found->second;
  }

  ThreadId thread_of(std::int64_t process, std::int64_t thread) {
    const auto [at, is_new] =
        threads_.try_emplace({process, thread}, static_cast<std::uint32_t>(tables_.threads.size()));
    if (is_new) tables_.threads.push_back({std::to_string(process), std::to_string(thread)});
    return ThreadId{at->second};
  }

  // Calls of HIP launch; whatever else stands among them is a range of the host.
  void read_calls() {
    constexpr Column kColumns[] = {{"id"}, {"pid"}, {"tid"}, {"start"}, {"end"}, {"apiName_id"}, {"args_id"}};
    for_each_row("rocpd_api", kColumns, [&](const Scan& scan) {
      const std::uint64_t offset = next_offset();
      const std::optional<SpanTimes> span = read_span(scan, 3, 4, 0, false, shown_, tables_.health);
      if (!span) return;
      if (span->is_open) count(HealthKind::missing_duration, scan, "no end");
      const auto id = scan.integer(0), process = scan.integer(1), thread = scan.integer(2);
      if (!process || !thread) count(HealthKind::missing_field, scan, "no pid or tid");
      std::string_view name = text_of(scan, 5);
      if (name.empty()) {
        count(HealthKind::missing_field, scan, "no name");
        name = "unknown";
      }
      const ThreadId on = thread_of(process.value_or(0), thread.value_or(0));
      sqlite::include_host(tables_.facts, span->start_ns, span->start_ns + span->duration_ns);
      if (name.starts_with("hip")) {
        LaunchTable& t = tables_.launches;
        t.name.push_back(tables_.strings.intern(name));
        t.kind.push_back(CallKind::runtime);
        t.start_ns.push_back(span->start_ns);
        t.duration_ns.push_back(span->duration_ns);
        t.thread.push_back(on);
        t.correlation.push_back(id.value_or(kNoId));
        t.offset.push_back(offset);
        return;
      }
      HostRangeTable& t = tables_.ranges;
      t.name.push_back(tables_.strings.intern(name == kUserMarker ? text_of(scan, 6) : name));
      t.kind.push_back(RangeKind::annotation);
      t.start_ns.push_back(span->start_ns);
      t.duration_ns.push_back(span->duration_ns);
      t.thread.push_back(on);
      t.sequence_number.push_back(kNoNumber);
      t.forward_thread.push_back(kNoNumber);
      for (auto* column : {&t.shapes, &t.types, &t.values}) column->push_back(kNoString);
      t.collective.push_back(kNoRow);
      t.offset.push_back(offset);
    });
  }

  void read_links() {
    constexpr Column kLink[] = {{"op_id"}, {"api_id"}};
    for_each_row("rocpd_api_ops", kLink, [&](const Scan& scan) {
      const auto work = scan.integer(0), call = scan.integer(1);
      if (work && call) call_of_.try_emplace(*work, *call);
    });
    constexpr Column kCopy[] = {{"api_ptr_id"}, {"size"}};
    for_each_row("rocpd_copyapi", kCopy, [&](const Scan& scan) {
      const auto call = scan.integer(0), size = scan.integer(1);
      if (call && size) bytes_of_.try_emplace(*call, *size);
    });
    // The grid is not read: some calls state it in workgroups, others in work-items.
    constexpr Column kKernel[] = {{"api_ptr_id"}, {"workgroupX"}, {"workgroupY"}, {"workgroupZ"}};
    for_each_row("rocpd_kernelapi", kKernel, [&](const Scan& scan) {
      const auto part = [&](std::size_t column) {
        const std::int64_t value = scan.integer(column).value_or(0);
        return value > 0 && value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : 0;
      };
      if (const auto call = scan.integer(0)) block_of_.try_emplace(*call, Extent{part(1), part(2), part(3)});
    });
  }

  static std::optional<GpuCategory> category_of(std::string_view type) {
    if (type.starts_with("Copy")) return GpuCategory::memcpy;
    if (type.starts_with("Fill")) return GpuCategory::memset;
    // They wait for work and do none.
    if (type.starts_with("Barrier") || type.starts_with("Marker")) return std::nullopt;
    return GpuCategory::kernel;
  }

  void read_gpu_work() {
    constexpr Column kColumns[] = {{"id"},  {"gpuId"},          {"queueId"},  {"start"},
                                   {"end"}, {"description_id"}, {"opType_id"}};
    for_each_row("rocpd_op", kColumns, [&](const Scan& scan) {
      const std::uint64_t offset = next_offset();
      const std::string_view type = text_of(scan, 6), description = text_of(scan, 5);
      const std::optional<GpuCategory> category = category_of(type);
      if (!category) return;
      const std::optional<SpanTimes> span = read_span(scan, 3, 4, 0, true, shown_, tables_.health);
      if (!span) return;
      std::string_view name = description.empty() ? type : description;
      if (name.empty()) {
        count(HealthKind::missing_field, scan, "no name");
        name = "unknown_kernel";
      }
      const std::int64_t device = scan.integer(1).value_or(kUnknownDevice);
      const auto call = call_of_.find(scan.integer(0).value_or(kNoNumber));
      const std::int64_t correlation = call == call_of_.end() ? kNoId : call->second;
      GpuWorkTable& t = tables_.gpu_work;
      t.name.push_back(tables_.strings.intern(name));
      t.category.push_back(*category);
      t.start_ns.push_back(span->start_ns);
      t.duration_ns.push_back(span->duration_ns);
      t.device.push_back(device >= 0 && device <= INT32_MAX ? static_cast<std::int32_t>(device) : kUnknownDevice);
      t.stream.push_back(scan.integer(2).value_or(kNoNumber));
      t.correlation.push_back(correlation);
      const auto bytes = bytes_of_.find(correlation);
      t.bytes.push_back(bytes == bytes_of_.end() || *category == GpuCategory::kernel ? kNoNumber : bytes->second);
      t.grid.emplace_back();
      const auto block = block_of_.find(correlation);
      t.block.push_back(block == block_of_.end() ? Extent{} : block->second);
      t.collective.push_back(kNoRow);
      t.offset.push_back(offset);
    });
  }

  void set_facts() {
    TraceFacts& facts = tables_.facts;
    facts.vendor = Vendor::amd;
    facts.quantum_ns = 1;
    facts.unique_correlations = true;  // ids of rows of one table
    // A damaged database may have more records than bytes.
    facts.text_bytes = std::max(database_.size_bytes(), facts.num_records + 1);
    if (num_rows(tables_.gpu_work) == 0) {
      tables_.health.add(HealthKind::no_gpu_records, std::string(shown_), "no row of rocpd_op is gpu work");
    } else {
      tables_.health.add(HealthKind::relative_clock, std::string(shown_), "times count from the start of the machine");
    }
  }

  const Database& database_;
  std::string_view shown_;
  TraceTables tables_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;  // (pid, tid) to row of threads
  std::unordered_map<std::int64_t, std::int64_t> call_of_;                  // row of rocpd_op to row of rocpd_api
  std::unordered_map<std::int64_t, std::int64_t> bytes_of_;                 // by row of rocpd_api
  std::unordered_map<std::int64_t, Extent> block_of_;                       // by row of rocpd_api
};

}  // namespace

Result<TraceTables> read_database(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const Database database, Database::open(open, shown, options));
  TraceTables tables = Reader(database, shown).read();
  database.publish_progress(options);
  return tables;
}

}  // namespace chopper::rpd
