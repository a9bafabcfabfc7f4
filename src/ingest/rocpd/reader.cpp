// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocpd/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/rocpd/dictionary.h"
#include "ingest/rocpd/instance_sums.h"
#include "ingest/rocpd/layout.h"
#include "ingest/rocprof/pass_builder.h"
#include "ingest/sqlite/database.h"
#include "ingest/sqlite/trace_rows.h"

namespace chopper::rocpd {
namespace {

using rocprof::DispatchRow;
using rocprof::PassBuilder;
using sqlite::Cell;
using sqlite::Column;
using sqlite::Database;
using sqlite::Relation;
using sqlite::Scan;

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;

std::uint32_t extent_of(std::int64_t number) {
  return number > 0 && number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : 0;
}

// Work-items of a launch; unknown where an extent is, or where they do not fit.
std::int64_t items_in(const Extent& extent) {
  std::int64_t items = 0;
  if (extent.x == 0 || extent.y == 0 || extent.z == 0 ||
      __builtin_mul_overflow(std::int64_t{extent.x}, std::int64_t{extent.y}, &items) ||
      __builtin_mul_overflow(items, std::int64_t{extent.z}, &items))
    return kNoNumber;
  return items;
}

class Reader {
 public:
  Reader(const Database& database, std::string_view shown) : database_(database), shown_(shown) {}

  Result<TraceTables> read() {
    CHOPPER_TRY(const std::string writer, writer_of(database_, shown_));
    const TableSet dispatches = find_tables(database_, "rocpd_kernel_dispatch");
    const TableSet values = find_tables(database_, "rocpd_pmc_event");
    if (auto error = unknown_layout(dispatches, shown_)) return std::move(*error);
    database_.add_notes(tables_.health);
    CounterPass& pass = tables_.pass.emplace();
    pass.file = shown_;
    pass.writer = writer;
    builder_ = std::make_unique<PassBuilder>(pass);
    names_ = read_dictionary(database_, shown_, pass, tables_.health, tables_.facts.num_records);
    const Relation* sums = database_.find("counters_collection");
    if (values.members.empty() && sums != nullptr && sums->has("counter_name") && sums->has("value")) {
      read_sums(*sums);
    } else {
      read_dispatches(dispatches);
      read_correlations();
      read_values(values);
    }
    read_marks();
    mark_devices();
    note_counters();
    set_facts();
    return std::move(tables_);
  }

 private:
  // ---- accounting ----

  void count(HealthKind kind, const Scan& scan, std::string_view what) {
    add_at(tables_.health, kind, shown_, scan, what);
  }
  std::uint64_t next_offset() { return tables_.facts.num_records++; }

  // Reads whole numbers, kNoNumber where there is none. Returns whether the row can be kept; if not, it was counted.
  bool read_numbers(const Scan& scan, std::span<const Column> columns, std::size_t first,
                    std::span<std::int64_t> numbers) {
    for (std::size_t i = 0; i < numbers.size(); i++) {
      const std::optional<std::int64_t> value = scan.integer(first + i);
      numbers[i] = value.value_or(kNoNumber);
      if (value || scan.kind(first + i) == Cell::null) continue;
      count(HealthKind::unreadable_value, scan, std::string(columns[first + i].name) + " is no whole number");
      return false;
    }
    return true;
  }

  // Returns whether the times can be used; sets them to none where the writer had none.
  bool read_times(const Scan& scan, DispatchRow& row) {
    if (row.start_ns == kNoNumber || row.end_ns == kNoNumber || row.start_ns == 0 || row.end_ns == 0) {
      row.start_ns = row.end_ns = kNoNumber;
      return true;
    }
    if (row.start_ns < 0 || row.end_ns < 0 || row.start_ns >= kTimeLimit || row.end_ns >= kTimeLimit) {
      count(HealthKind::time_overflow, scan, "start or end of a dispatch");
      return false;
    }
    if (row.end_ns < row.start_ns) {
      count(HealthKind::negative_duration, scan,
            "a dispatch from " + std::to_string(row.start_ns) + " to " + std::to_string(row.end_ns));
      return false;
    }
    return true;
  }

  static std::int64_t resolved(const Map<std::int64_t>& numbers, std::uint32_t guid, std::int64_t id) {
    const auto found = numbers.find({guid, id});
    return found == numbers.end() ? id : found->second;
  }

  // ---- dispatches ----

  void read_dispatches(const TableSet& tables) {
    constexpr Column kColumns[] = {{"guid"},
                                   {"agent_id"},
                                   {"kernel_id"},
                                   {"dispatch_id"},
                                   {"start"},
                                   {"end"},
                                   {"pid"},
                                   {"tid"},
                                   {"queue_id"},
                                   {"stream_id"},
                                   {"event_id"},
                                   {"workgroup_size_x"},
                                   {"workgroup_size_y"},
                                   {"workgroup_size_z"},
                                   {"grid_size_x"},
                                   {"grid_size_y"},
                                   {"grid_size_z"},
                                   {"group_segment_size"},
                                   {"private_segment_size"}};
    const auto add = [&](const Scan& scan, std::uint32_t guid) {
      const std::uint64_t offset = next_offset();
      std::int64_t n[std::size(kColumns) - 1];
      if (!read_numbers(scan, kColumns, 1, n)) return;
      DispatchRow row;
      row.dispatch_id = n[2];
      row.start_ns = n[3];
      row.end_ns = n[4];
      if (!read_times(scan, row)) return;
      row.process = resolved(names_.processes, guid, n[5]);
      row.thread = resolved(names_.threads, guid, n[6]);
      row.queue = n[7];
      row.stream = n[8];
      const auto agent = names_.agents.find({guid, n[0]});
      // Where the table of agents is lost: ids are numbers of nodes, as rocprofv3 writes them.
      row.device = builder_->device(agent != names_.agents.end() ? agent->second
                                    : n[0] != kNoNumber          ? std::to_string(n[0])
                                                                 : std::string("unknown"));
      PassKernel kernel;
      const auto symbol = names_.kernels.find({guid, n[1]});
      const bool is_named = symbol != names_.kernels.end() && !symbol->second.name.empty();
      if (!is_named) count(HealthKind::missing_field, scan, "kernel " + std::to_string(n[1]) + " has no name");
      kernel.name = builder_->name(is_named ? std::string_view(symbol->second.name) : "unknown_kernel");
      kernel.kernel_id = n[1];
      kernel.workgroup = {extent_of(n[10]), extent_of(n[11]), extent_of(n[12])};
      kernel.grid = {extent_of(n[13]), extent_of(n[14]), extent_of(n[15])};
      kernel.workgroup_size = items_in(kernel.workgroup);
      kernel.grid_size = items_in(kernel.grid);
      kernel.lds_bytes = n[16];
      kernel.scratch_bytes = n[17];
      if (symbol != names_.kernels.end()) {
        kernel.num_vgpr = symbol->second.num_vgpr;
        kernel.num_accum_vgpr = symbol->second.num_accum_vgpr;
        kernel.num_sgpr = symbol->second.num_sgpr;
      }
      row.kernel = builder_->kernel(kernel);
      const std::uint32_t dispatch = add_dispatch(scan, row, offset);
      if (n[9] != kNoNumber) dispatch_of_event_.try_emplace({guid, n[9]}, dispatch);
    };
    for_each_row(database_, shown_, tables_.health, names_, tables, kColumns, add);
  }

  std::uint32_t add_dispatch(const Scan& scan, const DispatchRow& row, std::uint64_t offset) {
    bool is_new = false;
    const std::uint32_t dispatch = builder_->dispatch(row, offset, is_new);
    if (is_new && row.start_ns == kNoNumber)
      count(HealthKind::missing_dispatch_time, scan, "dispatch " + std::to_string(row.dispatch_id));
    if (!is_new) count(HealthKind::repeated_row, scan, "a dispatch, the same in every column");
    return dispatch;
  }

  // Of one call and what it caused, stack_id is the same.
  void read_correlations() {
    if (dispatch_of_event_.empty()) return;
    constexpr Column kColumns[] = {{"guid"}, {"id"}, {"stack_id"}};
    for_each_row(database_, shown_, tables_.health, names_, find_tables(database_, "rocpd_event"), kColumns,
                 [&](const Scan& scan, std::uint32_t guid) {
                   const auto dispatch = dispatch_of_event_.find({guid, scan.integer(1).value_or(kNoNumber)});
                   if (dispatch == dispatch_of_event_.end()) return;
                   tables_.pass->dispatches.correlation[dispatch->second] = scan.integer(2).value_or(kNoNumber);
                 });
  }

  // ---- counters ----

  void read_values(const TableSet& tables) {
    constexpr Column kColumns[] = {{"guid"}, {"event_id"}, {"pmc_id"}, {"value"}, {"sample_id"}};
    std::uint64_t num_sampled = 0;
    InstanceSums sums(tables_.pass->values);
    Key event, pmc;
    std::optional<std::uint32_t> dispatch, counter;
    bool is_first = true;
    const auto add = [&](const Scan& scan, std::uint32_t guid) {
      if (scan.kind(4) != Cell::null) {
        num_sampled++;
        return;
      }
      const std::uint64_t offset = next_offset();
      has_values_ = true;
      const std::optional<std::int64_t> event_id = scan.integer(1), pmc_id = scan.integer(2);
      if (!event_id || !pmc_id)
        return count(HealthKind::unreadable_value, scan, "event_id or pmc_id is no whole number");
      // Rows of a dispatch follow each other, and of these those of a counter.
      if (is_first || event != Key{guid, *event_id}) {
        event = {guid, *event_id};
        const auto found = dispatch_of_event_.find(event);
        dispatch = found == dispatch_of_event_.end() ? std::nullopt : std::optional(found->second);
      }
      if (is_first || pmc != Key{guid, *pmc_id}) {
        pmc = {guid, *pmc_id};
        const auto found = names_.counters.find(pmc);
        counter = found == names_.counters.end() ? std::nullopt : std::optional(builder_->counter(found->second));
      }
      is_first = false;
      if (!dispatch || !counter)
        return count(HealthKind::unreadable_value, scan, dispatch ? "pmc_id of no counter" : "event_id of no dispatch");
      const std::optional<double> value = scan.real(3);
      if (!value || !std::isfinite(*value))
        return count(HealthKind::missing_value, scan, tables_.pass->strings.view(tables_.pass->counters[*counter]));
      sums.add(*dispatch, *counter, *value, offset);
    };
    for_each_row(database_, shown_, tables_.health, names_, tables, kColumns, add);
    sums.finish(num_rows(tables_.pass->dispatches));
    tables_.health.add(HealthKind::rows_not_read, std::string(shown_) + ", table rocpd_pmc_event",
                       "counters sampled over time, of no dispatch", num_sampled);
  }

  // The view of sums, made a table by whoever cut the database down.
  void read_sums(const Relation& relation) {
    constexpr Column kColumns[] = {{"guid"},
                                   {"agent_abs_index"},
                                   {"kernel_id"},
                                   {"dispatch_id"},
                                   {"start"},
                                   {"end"},
                                   {"pid"},
                                   {"tid"},
                                   {"queue_id"},
                                   {"stack_id"},
                                   {"grid_size"},
                                   {"workgroup_size_x"},
                                   {"workgroup_size_y"},
                                   {"workgroup_size_z"},
                                   {"grid_size_x"},
                                   {"grid_size_y"},
                                   {"grid_size_z"},
                                   {"lds_block_size"},
                                   {"scratch_size"},
                                   {"vgpr_count"},
                                   {"accum_vgpr_count"},
                                   {"sgpr_count"},
                                   {"kernel_name"},
                                   {"counter_name"},
                                   {"value"}};
    constexpr std::size_t kName = 22, kCounter = 23, kValue = 24;
    const auto add = [&](const Scan& scan, std::uint32_t) {
      const std::uint64_t offset = next_offset();
      has_values_ = true;
      std::int64_t n[kName - 1];
      if (!read_numbers(scan, kColumns, 1, n)) return;
      DispatchRow row;
      row.dispatch_id = n[2];
      row.start_ns = n[3];
      row.end_ns = n[4];
      if (!read_times(scan, row)) return;
      row.process = n[5];
      row.thread = n[6];
      row.queue = n[7];
      row.correlation = n[8];
      row.device = builder_->device(n[0] == kNoNumber ? std::string("unknown") : std::to_string(n[0]));
      PassKernel kernel;
      kernel.name = builder_->name(scan.text(kName));
      kernel.kernel_id = n[1];
      kernel.grid_size = n[9];
      kernel.workgroup = {extent_of(n[10]), extent_of(n[11]), extent_of(n[12])};
      kernel.grid = {extent_of(n[13]), extent_of(n[14]), extent_of(n[15])};
      kernel.workgroup_size = items_in(kernel.workgroup);
      kernel.lds_bytes = n[16];
      kernel.scratch_bytes = n[17];
      kernel.num_vgpr = n[18];
      kernel.num_accum_vgpr = n[19];
      kernel.num_sgpr = n[20];
      row.kernel = builder_->kernel(kernel);
      bool is_new = false;
      const std::uint32_t dispatch = builder_->dispatch(row, offset, is_new);
      if (is_new && row.start_ns == kNoNumber)
        count(HealthKind::missing_dispatch_time, scan, "dispatch " + std::to_string(row.dispatch_id));
      if (scan.text(kCounter).empty()) return count(HealthKind::unreadable_value, scan, "no counter_name");
      const std::uint32_t counter = builder_->counter(scan.text(kCounter));
      const std::optional<double> value = scan.real(kValue);
      if (!value || !std::isfinite(*value)) return count(HealthKind::missing_value, scan, scan.text(kCounter));
      builder_->value(dispatch, counter, *value, offset);
    };
    TableSet tables;
    tables.members.push_back({&relation, {}});
    for_each_row(database_, shown_, tables_.health, names_, tables, kColumns, add);
    builder_->finish(tables_.health,
                     [&](std::uint64_t offset) { return std::string(shown_) + ", record " + std::to_string(offset); });
  }

  // ---- marks ----

  void read_marks() {
    // Ids of the categories MARKER_CORE_RANGE_API and its like.
    std::string ids;
    for (const auto& [key, text] : names_.strings) {
      if (text.starts_with("MARKER_")) ids += (ids.empty() ? "" : ",") + std::to_string(key.id);
    }
    if (ids.empty()) return;
    constexpr Column kEvent[] = {
        {"guid"},
        {"id"},
        {"category_id"},
        {"extdata", "CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.message') END"}};
    Map<std::string> messages;
    for_each_row(
        database_, shown_, tables_.health, names_, find_tables(database_, "rocpd_event"), kEvent,
        [&](const Scan& scan, std::uint32_t guid) {
          const auto category = names_.strings.find({guid, scan.integer(2).value_or(kNoNumber)});
          const std::optional<std::int64_t> id = scan.integer(1);
          if (!id || category == names_.strings.end() || !category->second.starts_with("MARKER_")) return;
          messages.try_emplace({guid, *id}, scan.text(3));
        },
        "category_id IN (" + ids + ")");
    if (messages.empty()) return;
    const auto add = [&](const Scan& scan, std::uint32_t guid, std::span<const Column> columns, bool is_instant) {
      const auto message = messages.find({guid, scan.integer(1).value_or(kNoNumber)});
      if (message == messages.end()) return;
      const std::uint64_t offset = next_offset();
      std::int64_t n[5];
      if (!read_numbers(scan, columns, 2, n)) return;
      if (is_instant) n[1] = n[0];
      add_mark(scan, n[0], n[1], offset, [&] {
        PassMarkTable& marks = tables_.pass->marks;
        const auto name = names_.strings.find({guid, n[4]});
        const bool is_named = message->second.empty() && name != names_.strings.end();
        marks.name.push_back(builder_->name(is_named ? name->second : message->second));
        marks.process.push_back(resolved(names_.processes, guid, n[2]));
        marks.thread.push_back(resolved(names_.threads, guid, n[3]));
      });
    };
    constexpr Column kRegion[] = {{"guid"}, {"event_id"}, {"start"}, {"end"}, {"pid"}, {"tid"}, {"name_id"}};
    for_each_row(database_, shown_, tables_.health, names_, find_tables(database_, "rocpd_region"), kRegion,
                 [&](const Scan& scan, std::uint32_t guid) { add(scan, guid, kRegion, false); });
    read_tracks();
    constexpr Column kSample[] = {{"guid"},     {"event_id"}, {"timestamp"}, {"timestamp"},
                                  {"track_id"}, {"track_id"}, {"name_id"}};
    for_each_row(database_, shown_, tables_.health, names_, find_tables(database_, "rocpd_sample"), kSample,
                 [&](const Scan& scan, std::uint32_t guid) {
                   const std::size_t before = num_rows(tables_.pass->marks);
                   add(scan, guid, kSample, true);
                   if (num_rows(tables_.pass->marks) == before) return;
                   const auto track = tracks_.find({guid, scan.integer(4).value_or(kNoNumber)});
                   const bool known = track != tracks_.end();
                   tables_.pass->marks.process.back() = known ? track->second.first : kNoNumber;
                   tables_.pass->marks.thread.back() = known ? track->second.second : kNoNumber;
                 });
  }

  void read_tracks() {
    constexpr Column kTrack[] = {{"guid"}, {"id"}, {"pid"}, {"tid"}};
    for_each_row(database_, shown_, tables_.health, names_, find_tables(database_, "rocpd_track"), kTrack,
                 [&](const Scan& scan, std::uint32_t guid) {
                   const std::optional<std::int64_t> id = scan.integer(1);
                   if (!id) return;
                   tracks_.try_emplace({guid, *id},
                                       resolved(names_.processes, guid, scan.integer(2).value_or(kNoNumber)),
                                       resolved(names_.threads, guid, scan.integer(3).value_or(kNoNumber)));
                 });
  }

  template <class Name>
  void add_mark(const Scan& scan, std::int64_t start_ns, std::int64_t end_ns, std::uint64_t offset, const Name& name) {
    if (start_ns == kNoNumber || end_ns == kNoNumber)
      return count(HealthKind::unreadable_value, scan, "a mark without start or end");
    if (start_ns == 0 || end_ns == 0) return count(HealthKind::zero_timestamp, scan, "start or end of a mark");
    if (start_ns < 0 || end_ns < 0 || start_ns >= kTimeLimit || end_ns >= kTimeLimit)
      return count(HealthKind::time_overflow, scan, "start or end of a mark");
    if (end_ns < start_ns)
      return count(HealthKind::negative_duration, scan,
                   "a mark from " + std::to_string(start_ns) + " to " + std::to_string(end_ns));
    name();
    PassMarkTable& marks = tables_.pass->marks;
    marks.start_ns.push_back(start_ns);
    marks.end_ns.push_back(end_ns);
    marks.offset.push_back(offset);
  }

  // ---- what needs all of it ----

  // "host:4" is node 4 of that host.
  void mark_devices() {
    for (PassDevice& device : tables_.pass->devices) {
      const std::size_t colon = device.text.rfind(':');
      if (device.form != AgentForm::unknown || colon == std::string::npos) continue;
      const PassDevice node = rocprof::parse_device(std::string_view(device.text).substr(colon + 1));
      device.form = node.form;
      device.number = node.number;
    }
  }

  void note_counters() {
    CounterPass& pass = *tables_.pass;
    pass.content = has_values_                     ? PassContent::counters
                   : num_rows(pass.dispatches) > 0 ? PassContent::kernel_times
                   : num_rows(pass.marks) > 0      ? PassContent::marks
                                                   : PassContent::kernel_times;
    if (num_rows(pass.dispatches) == 0 && num_rows(pass.marks) == 0)
      tables_.health.add(HealthKind::no_rows, std::string(shown_), "no dispatch");
    if (pass.content != PassContent::counters) return;
    std::vector<std::size_t> num_values(num_rows(pass.dispatches), 0);
    for (const std::uint32_t dispatch : pass.values.dispatch) num_values[dispatch]++;
    for (std::size_t i = 0; i < num_values.size(); i++) {
      if (num_values[i] == pass.counters.size()) continue;
      tables_.health.add(HealthKind::incomplete_counters, std::string(shown_),
                         "dispatch " + std::to_string(pass.dispatches.dispatch_id[i]) + " has " +
                             std::to_string(num_values[i]) + " of " + std::to_string(pass.counters.size()));
    }
  }

  void set_facts() {
    TraceFacts& facts = tables_.facts;
    facts.vendor = Vendor::amd;
    facts.host = names_.host;
    facts.has_offsets = false;
    // A record has a number where formats of text have an offset; a damaged database may have more records than bytes.
    facts.text_bytes = std::max(database_.size_bytes(), facts.num_records + 1);
  }

  const Database& database_;
  std::string_view shown_;
  TraceTables tables_;
  Dictionary names_;
  std::unique_ptr<PassBuilder> builder_;
  Map<std::uint32_t> dispatch_of_event_;
  Map<std::pair<std::int64_t, std::int64_t>> tracks_;  // to (pid, tid)
  bool has_values_ = false;
};

}  // namespace

Result<TraceTables> read_database(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const Database database, Database::open(open, shown, options));
  Result<TraceTables> tables = Reader(database, shown).read();
  database.publish_progress(options);
  return tables;
}

}  // namespace chopper::rocpd
