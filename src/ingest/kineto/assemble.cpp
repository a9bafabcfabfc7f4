// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/assemble.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/decimal.h"
#include "base/parallel.h"
#include "ingest/kineto/json_repair.h"
#include "ingest/kineto/metadata.h"

namespace chopper {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;  // 146 years around 1970: sums of spans stay inside int64
constexpr std::int64_t kWindowSlack = 60'000'000'000;       // 60 s, spec 2

// The global ids of one worker's names and threads.
struct Translation {
  std::vector<StringId> strings;
  std::vector<ThreadId> threads;

  StringId operator()(StringId local) const { return local == kNoString ? local : strings[index_of(local)]; }
  ThreadId operator()(ThreadId local) const { return threads[index_of(local)]; }
};

template <class T>
void append_column(std::vector<T>& to, std::vector<T>& from, const Translation& translate,
                   std::uint32_t collectives_before) {
  if constexpr (std::is_same_v<T, StringId> || std::is_same_v<T, ThreadId>) {
    for (const T id : from) to.push_back(translate(id));
  } else if constexpr (std::is_same_v<T, RowId>) {
    for (const RowId row : from) to.push_back(row == kNoRow ? row : RowId{index_of(row) + collectives_before});
  } else {
    static_cast<void>(translate);
    static_cast<void>(collectives_before);
    to.insert(to.end(), from.begin(), from.end());
  }
  std::vector<T>().swap(from);  // parts give their memory back as they go
}

template <class Table>
void append_table(Table& to, Table& from, const Translation& translate, std::uint32_t collectives_before) {
  std::apply([&](auto... member) { (append_column(to.*member, from.*member, translate, collectives_before), ...); },
             Table::columns());
}

template <class Table>
void reserve_table(Table& table, std::size_t rows) {
  for_each_column(table, [&](auto& column) { column.reserve(rows); });
}

// The open begins of one thread. Begins closed out of order stay as gaps until they are on top, so that every end costs
// the same.
class OpenStack {
 public:
  void push(const OpenSpan& span) {
    by_name_[span.name].push_back(spans_.size());
    spans_.emplace_back(span);
  }

  // The begin that `end` closes: the innermost of its name, or the innermost of all when it has none.
  std::optional<OpenSpan> pop(const OpenSpan& end) {
    std::size_t at = 0;
    if (end.named) {
      const auto found = by_name_.find(end.name);
      if (found == by_name_.end() || found->second.empty()) return std::nullopt;
      at = found->second.back();
      found->second.pop_back();
    } else {
      if (spans_.empty()) return std::nullopt;  // the top is never a gap
      at = spans_.size() - 1;
      by_name_[spans_[at]->name].pop_back();
    }
    const std::optional<OpenSpan> span = std::exchange(spans_[at], std::nullopt);
    while (!spans_.empty() && !spans_.back()) spans_.pop_back();
    return span;
  }

  std::vector<OpenSpan> take_all() {
    std::vector<OpenSpan> left;
    for (const std::optional<OpenSpan>& span : spans_) {
      if (span) left.push_back(*span);
    }
    spans_.clear();
    by_name_.clear();
    return left;
  }

 private:
  std::vector<std::optional<OpenSpan>> spans_;
  std::unordered_map<StringId, std::vector<std::size_t>> by_name_;
};

class Assembler {
 public:
  Assembler(std::vector<EventPart> parts, std::vector<EventParser>& parsers, const TraceDocument& document,
            std::string_view shown)
      : parts_(std::move(parts)),
        parsers_(parsers),
        document_(document),
        shown_(shown),
        metadata_(parse_metadata(document.metadata())) {}

  TraceTables run() {
    collect_notes();
    join_tables();
    join_counters();
    std::uint64_t num_times = 0;
    std::uint64_t num_absolute = 0;
    for (const EventPart& part : parts_) {
      num_times += part.num_times;
      num_absolute += part.num_absolute_times;
    }
    // Base and ordinary times together stay below the limit.
    constexpr std::int64_t kLargestBase = kTimeLimit - kOrdinaryTime;
    if (metadata_.base_ns && (*metadata_.base_ns >= kLargestBase || *metadata_.base_ns <= -kLargestBase)) {
      metadata_.base_ns.reset();
      metadata_.base_unreadable = true;
    }
    base_ns_ = metadata_.base_ns.value_or(0);
    absolute_ts_ = !metadata_.base_ns && num_absolute * 2 > num_times;
    pair_open_spans();
    set_times();
    quarantine_gpu_work();
    set_facts();
    return std::move(tables_);
  }

 private:
  std::string where(std::uint64_t offset) const { return std::string(shown_) + " @ byte " + std::to_string(offset); }
  void count(HealthKind kind, std::uint64_t offset, std::string_view what) {
    count(tables_.health, kind, offset, what);
  }
  void count(HealthLog& log, HealthKind kind, std::uint64_t offset, std::string_view what) const {
    if (log.wants_example(kind)) {
      log.add(kind, where(offset), std::string(what));
    } else {
      log.add(kind, {}, {});
    }
  }

  // The first examples of each kind are those of the smallest offset, whichever batch or structure they came from.
  void collect_notes() {
    std::vector<const EventNote*> notes;
    std::vector<std::uint64_t> left(kNumHealthKinds, 0);
    for (const EventPart& part : parts_) {
      for (std::size_t k = 0; k < left.size(); k++) left[k] += part.note_counts[k];
      for (const EventNote& note : part.notes) notes.push_back(&note);
    }
    for (const EventNote& note : document_.notes()) {
      left[static_cast<std::size_t>(note.kind)]++;
      notes.push_back(&note);
    }
    std::stable_sort(notes.begin(), notes.end(), [](const EventNote* a, const EventNote* b) {
      return std::tie(a->kind, a->offset) < std::tie(b->kind, b->offset);
    });
    for (const EventNote* note : notes) {
      if (!tables_.health.wants_example(note->kind)) continue;
      count(note->kind, note->offset, note->what);
      left[static_cast<std::size_t>(note->kind)]--;
    }
    for (std::size_t k = 0; k < left.size(); k++) tables_.health.add(static_cast<HealthKind>(k), {}, {}, left[k]);
  }

  // Names and threads of all workers get global ids. Ids differ with the number of threads; nothing that is printed
  // depends on them.
  std::vector<Translation> translate_dictionaries() {
    std::vector<Translation> translations(parsers_.size());
    std::unordered_map<std::string, std::uint32_t> thread_ids;
    for (std::size_t w = 0; w < parsers_.size(); w++) {
      const WorkerDictionary& dictionary = parsers_[w].dictionary();
      for (std::size_t i = 0; i < dictionary.names().size(); i++) {
        const std::string_view raw = dictionary.names().view(StringId{static_cast<std::uint32_t>(i)});
        bool invalid = false;
        translations[w].strings.push_back(raw.find('\\') == std::string_view::npos
                                              ? tables_.strings.intern(raw)
                                              : tables_.strings.intern(unescape(raw, invalid)));
      }
      for (const Thread& thread : dictionary.threads()) {
        const auto [at, inserted] =
            thread_ids.emplace(thread.pid + "\n" + thread.tid, static_cast<std::uint32_t>(tables_.threads.size()));
        if (inserted) tables_.threads.push_back(thread);
        translations[w].threads.push_back(ThreadId{at->second});
      }
    }
    return translations;
  }

  // Rows of each table before each part.
  struct Before {
    std::uint32_t gpu_work = 0, launches = 0, ranges = 0, memory = 0, collectives = 0;
  };

  // What CUPTI counted, in order of the file; an exception among traces.
  void join_counters() {
    std::vector<CounterRangeList> lists;
    for (EventPart& part : parts_) {
      if (part.counted.ranges.empty()) continue;
      const Translation& translate = translations_[part.worker];
      for (CounterRange& range : part.counted.ranges) range.name = translate(range.name);
      for (RangeCounter& counter : part.counted.counters) counter.name = translate(counter.name);
      lists.push_back(std::move(part.counted));
    }
    if (!lists.empty()) tables_.counters = pass_of_ranges(lists, tables_.strings, shown_, tables_.health);
  }

  void join_tables() {
    translations_ = translate_dictionaries();
    const std::vector<Translation>& translations = translations_;
    std::vector<Before> before(parts_.size() + 1);
    for (std::size_t i = 0; i < parts_.size(); i++) {
      const EventPart& p = parts_[i];
      const auto rows = [](const auto& table) { return static_cast<std::uint32_t>(num_rows(table)); };
      before[i + 1] = {before[i].gpu_work + rows(p.gpu_work), before[i].launches + rows(p.launches),
                       before[i].ranges + rows(p.ranges), before[i].memory + rows(p.memory),
                       before[i].collectives + rows(p.collectives)};
      last_time_ns_ = std::max(last_time_ns_, p.last_time_ns);
    }
    for (std::size_t i = 0; i < parts_.size(); i++) {
      for (OpenSpan span : parts_[i].open_spans) {
        span.name = translations[parts_[i].worker](span.name);
        span.thread = translations[parts_[i].worker](span.thread);
        if (span.table == SpanTable::gpu_work) span.row += before[i].gpu_work;
        if (span.table == SpanTable::launches) span.row += before[i].launches;
        if (span.table == SpanTable::ranges) span.row += before[i].ranges;
        open_spans_.push_back(span);
      }
    }
    for (const EventPart& part : parts_) {
      for (OddHostRecord record : part.odd_host) {
        record.name = translations[part.worker](record.name);
        odd_host_.push_back(record);
      }
    }
    const auto join = [&](auto TraceTables::*table, auto EventPart::*part_table, std::size_t rows) {
      return [&, table, part_table, rows] {
        reserve_table(tables_.*table, rows);
        for (std::size_t i = 0; i < parts_.size(); i++)
          append_table(tables_.*table, parts_[i].*part_table, translations[parts_[i].worker], before[i].collectives);
      };
    };
    const Before& all = before.back();
    run_tasks(num_threads(), {join(&TraceTables::ranges, &EventPart::ranges, all.ranges),
                              join(&TraceTables::launches, &EventPart::launches, all.launches),
                              join(&TraceTables::gpu_work, &EventPart::gpu_work, all.gpu_work),
                              join(&TraceTables::memory, &EventPart::memory, all.memory),
                              join(&TraceTables::collectives, &EventPart::collectives, all.collectives)});
  }
  unsigned num_threads() const { return static_cast<unsigned>(parsers_.size()); }

  std::int64_t* duration_of(const OpenSpan& span) {
    switch (span.table) {
      case SpanTable::gpu_work:
        return &tables_.gpu_work.duration_ns[span.row];
      case SpanTable::launches:
        return &tables_.launches.duration_ns[span.row];
      case SpanTable::ranges:
        return &tables_.ranges.duration_ns[span.row];
      case SpanTable::none:
        return nullptr;
    }
    return nullptr;
  }

  void close(const OpenSpan& span, std::int64_t end_ns) {
    std::int64_t duration = 0;
    if (__builtin_sub_overflow(end_ns, span.time_ns, &duration)) duration = kTimeLimit;
    if (std::int64_t* target = duration_of(span)) *target = duration;
    if (span.table == SpanTable::none && span.host_window)
      odd_host_.push_back({span.time_ns, duration, span.offset, span.name});
  }

  // Per thread, in order of (time, offset): an end closes the innermost open begin of its name.
  void pair_open_spans() {
    dead_gpu_.assign(num_rows(tables_.gpu_work), 0);
    std::stable_sort(open_spans_.begin(), open_spans_.end(), [](const OpenSpan& a, const OpenSpan& b) {
      return std::tie(a.thread, a.time_ns, a.offset) < std::tie(b.thread, b.time_ns, b.offset);
    });
    OpenStack stack;
    const auto flush = [&] {
      for (const OpenSpan& span : stack.take_all()) {
        const std::string name = std::string(tables_.strings.view(span.name)).substr(0, 60);
        if (span.table == SpanTable::gpu_work) {
          dead_gpu_[span.row] = 1;
          count(HealthKind::unclosed_gpu_span, span.offset, name);
        } else {
          count(HealthKind::unclosed_span, span.offset, name);
          close(span, std::max(last_time_ns_, span.time_ns));
        }
      }
    };
    for (std::size_t i = 0; i < open_spans_.size(); i++) {
      const OpenSpan& span = open_spans_[i];
      if (i > 0 && span.thread != open_spans_[i - 1].thread) flush();
      if (span.begin) {
        stack.push(span);
      } else if (const std::optional<OpenSpan> match = stack.pop(span)) {
        close(*match, span.time_ns);
      } else {
        count(HealthKind::unmatched_end, span.offset, std::string(tables_.strings.view(span.name)).substr(0, 60));
      }
    }
    flush();
  }

  // Adds the base and applies the rules that need no host window. Returns whether the record stays.
  bool make_absolute(std::int64_t& start_ns, std::int64_t duration_ns, std::uint64_t offset, StringId name,
                     HealthLog& log) const {
    const std::int64_t written = start_ns;
    std::int64_t absolute = 0;
    std::int64_t end = 0;
    HealthKind kind = HealthKind::count_;
    if (__builtin_add_overflow(written, base_ns_, &absolute) || __builtin_add_overflow(absolute, duration_ns, &end) ||
        absolute >= kTimeLimit || absolute <= -kTimeLimit || end >= kTimeLimit || end <= -kTimeLimit ||
        duration_ns >= kTimeLimit) {
      kind = HealthKind::time_overflow;
    } else if (duration_ns < 0) {
      kind = HealthKind::negative_duration;
    } else if (written == 0 && absolute_ts_) {
      kind = HealthKind::zero_timestamp;
    }
    if (kind == HealthKind::count_) {
      start_ns = absolute;
      return true;
    }
    count(log, kind, offset,
          std::string(tables_.strings.view(name)).substr(0, 60) + ", start " + std::to_string(written) +
              " ns, duration " + std::to_string(duration_ns) + " ns");
    return false;
  }

  template <class Table>
  void set_host_times(Table& table, HealthLog& log, HostExtent& extent) const {
    std::vector<std::uint8_t> keep(num_rows(table), 1);
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (make_absolute(table.start_ns[i], table.duration_ns[i], table.offset[i], table.name[i], log)) {
        extent.include(table.start_ns[i], table.start_ns[i] + table.duration_ns[i]);
      } else {
        keep[i] = 0;
        all = false;
      }
    }
    if (!all) keep_rows(table, keep);
  }

  void set_times() {
    HealthLog range_log, launch_log;
    HostExtent range_extent, launch_extent;
    run_tasks(num_threads(), {[&] { set_host_times(tables_.ranges, range_log, range_extent); },
                              [&] { set_host_times(tables_.launches, launch_log, launch_extent); }});
    tables_.health.merge(range_log);
    tables_.health.merge(launch_log);
    for (const HostExtent& extent : {range_extent, launch_extent}) {
      if (!extent.empty()) host_.include(extent.first_ns, extent.last_ns);
    }
    for (const EventPart& part : parts_) {
      if (!part.host.empty()) host_.include(part.host.first_ns + base_ns_, part.host.last_ns + base_ns_);
    }
    for (OddHostRecord& record : odd_host_) {
      if (make_absolute(record.start_ns, record.duration_ns, record.offset, record.name, tables_.health))
        host_.include(record.start_ns, record.start_ns + record.duration_ns);
    }
    std::vector<std::uint8_t> keep(num_rows(tables_.memory), 1);
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (__builtin_add_overflow(tables_.memory.time_ns[i], base_ns_, &tables_.memory.time_ns[i])) {
        count(HealthKind::time_overflow, tables_.memory.offset[i], "[memory]");
        keep[i] = 0;
        all = false;
      }
    }
    if (!all) keep_rows(tables_.memory, keep);
  }

  void quarantine_gpu_work() {
    GpuWorkTable& t = tables_.gpu_work;
    std::vector<std::uint8_t> keep(num_rows(t), 1);
    const bool window = !host_.empty();
    const std::int64_t slack = window ? std::max(host_.last_ns - host_.first_ns, kWindowSlack) : 0;
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (dead_gpu_[i] != 0) {
        keep[i] = 0;
      } else if (!make_absolute(t.start_ns[i], t.duration_ns[i], t.offset[i], t.name[i], tables_.health)) {
        keep[i] = 0;
      } else if (window &&
                 (host_.first_ns - t.start_ns[i] > slack || t.start_ns[i] + t.duration_ns[i] - host_.last_ns > slack)) {
        keep[i] = 0;
        count(HealthKind::outside_host_window, t.offset[i],
              std::string(tables_.strings.view(t.name[i])).substr(0, 60) + ", start " + std::to_string(t.start_ns[i]) +
                  " ns; host records from " + std::to_string(host_.first_ns) + " to " + std::to_string(host_.last_ns) +
                  " ns");
      }
      all = all && keep[i] != 0;
    }
    if (!all) keep_rows(t, keep);
  }

  void set_facts() {
    TraceFacts& facts = tables_.facts;
    std::uint8_t shape = 0;
    std::uint64_t hip = 0, cuda = 0, unknown = 0, unknown_offset = 0;
    std::int64_t process_group_rank = kNoNumber;
    for (const EventPart& part : parts_) {
      shape |= part.fraction_shape;
      facts.num_records += part.num_records;
      facts.num_python_frames += part.num_python_frames;
      hip += part.num_hip_calls;
      cuda += part.num_cuda_calls;
      if (unknown == 0) unknown_offset = part.unknown_gpu_offset;
      unknown += part.unknown_gpu;
      if (process_group_rank == kNoNumber) process_group_rank = part.process_group_rank;
    }
    facts.quantum_ns = (shape & FractionShape::any) != 0 ? 1 : 1000;
    facts.clock = metadata_.base_ns || absolute_ts_ ? ClockDomain::unix_time : ClockDomain::relative;
    facts.text_bytes = document_.offset();
    if (!host_.empty()) {
      facts.host_first_ns = host_.first_ns;
      facts.host_last_ns = host_.last_ns;
    }
    facts.devices = metadata_.devices;
    facts.host = metadata_.host;
    facts.world_size = metadata_.world_size;
    facts.vendor = vendor(hip, cuda);
    if (metadata_.rank) {
      facts.rank = metadata_.rank;
      facts.rank_source = RankSource::metadata;
      if (process_group_rank != kNoNumber && process_group_rank != *metadata_.rank && world_group_only()) {
        tables_.health.add(HealthKind::rank_sources_disagree, std::string(shown_),
                           "distributedInfo says " + std::to_string(*metadata_.rank) + ", the process group " +
                               std::to_string(process_group_rank));
      }
    } else if (process_group_rank != kNoNumber) {
      facts.rank = process_group_rank;
      facts.rank_source = RankSource::process_group;
    }
    if (metadata_.base_unreadable)
      tables_.health.add(HealthKind::missing_field, std::string(shown_), "baseTimeNanoseconds is no usable integer");
    if (facts.clock == ClockDomain::relative && num_rows(tables_.gpu_work) > 0)
      tables_.health.add(HealthKind::relative_clock, std::string(shown_),
                         "no usable baseTimeNanoseconds, and ts is no UNIX time");
    if (num_rows(tables_.gpu_work) == 0)
      tables_.health.add(HealthKind::no_gpu_records, std::string(shown_), "no kernel, memcpy or memset record");
    if (unknown > 0)
      tables_.health.add(HealthKind::unknown_gpu_category, where(unknown_offset), "records of another accelerator",
                         unknown);
    count_processes();
  }

  // The rank inside a group equals the global rank only in the group of all ranks.
  bool world_group_only() const {
    for (const std::int64_t size : tables_.collectives.group_size) {
      if (size != metadata_.world_size.value_or(-1)) return false;
    }
    return true;
  }

  Vendor vendor(std::uint64_t hip, std::uint64_t cuda) const {
    if (hip != cuda) return hip > cuda ? Vendor::amd : Vendor::nvidia;
    for (const DeviceFacts& device : metadata_.devices) {
      for (const std::string_view word : {"AMD", "Instinct", "Radeon"}) {
        if (device.name.find(word) != std::string::npos) return Vendor::amd;
      }
      for (const std::string_view word : {"NVIDIA", "Tesla", "GeForce", "Quadro", "A100", "H100"}) {
        if (device.name.find(word) != std::string::npos) return Vendor::nvidia;
      }
    }
    return Vendor::unknown;
  }

  void count_processes() {
    std::set<std::string> processes;
    ThreadId last{UINT32_MAX};
    for (const ThreadId thread : tables_.launches.thread) {
      if (thread == last) continue;
      last = thread;
      processes.insert(tables_.threads[index_of(thread)].pid);
    }
    if (processes.size() > 1)
      tables_.health.add(HealthKind::several_processes, std::string(shown_),
                         std::to_string(processes.size()) + " processes make launch calls");
  }

  std::vector<EventPart> parts_;
  std::vector<EventParser>& parsers_;
  const TraceDocument& document_;
  std::string_view shown_;
  TraceMetadata metadata_;
  TraceTables tables_;
  std::vector<Translation> translations_;  // of each worker
  std::vector<OpenSpan> open_spans_;
  std::vector<std::uint8_t> dead_gpu_;
  HostExtent host_;                      // absolute
  std::vector<OddHostRecord> odd_host_;  // as written, ids translated
  std::int64_t last_time_ns_ = INT64_MIN;
  std::int64_t base_ns_ = 0;
  bool absolute_ts_ = false;
};

}  // namespace

TraceTables assemble(std::vector<EventPart> parts, std::vector<EventParser>& parsers, const TraceDocument& document,
                     std::string_view shown) {
  return Assembler(std::move(parts), parsers, document, shown).run();
}

bool fractions_are_unpadded(const std::vector<EventPart>& parts, const TraceDocument& document) {
  if (document.metadata().contains("baseTimeNanoseconds")) return false;
  std::uint8_t shape = 0;
  for (const EventPart& part : parts) shape |= part.fraction_shape;
  return FractionShape::is_unpadded(shape);
}

}  // namespace chopper
