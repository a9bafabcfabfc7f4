// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/assemble.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "base/decimal.h"
#include "ingest/kineto/json_repair.h"
#include "ingest/kineto/metadata.h"

namespace chopper {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;   // 146 years around 1970: sums of spans stay inside int64
constexpr std::int64_t kAbsoluteTs = 1'000'000'000'000'000'000;  // 1e15 us in ns: larger ts are UNIX time themselves
constexpr std::int64_t kWindowSlack = 60'000'000'000;        // 60 s, spec 2

// Translates the ids of one worker. Only what a row refers to gets a global id, so discarded work leaves no trace.
class Translation {
 public:
  Translation(WorkerDictionary& dictionary, TraceTables& tables, std::unordered_map<std::string, std::uint32_t>& thread_ids,
              std::set<std::string, std::less<>>& invalid_escapes)
      : dictionary_(dictionary), tables_(tables), thread_ids_(thread_ids), invalid_escapes_(invalid_escapes),
        strings_(dictionary.names.size(), kNoString), threads_(dictionary.threads().size(), ThreadId{UINT32_MAX}) {}

  StringId operator()(StringId local) {
    if (local == kNoString) return kNoString;
    StringId& global = strings_[index_of(local)];
    if (global == kNoString) {
      const std::string_view raw = dictionary_.names.view(local);
      if (raw.find('\\') == std::string_view::npos) {
        global = tables_.strings.intern(raw);
      } else {
        bool invalid = false;
        global = tables_.strings.intern(unescape(raw, invalid));
        if (invalid) invalid_escapes_.emplace(raw);
      }
    }
    return global;
  }
  ThreadId operator()(ThreadId local) {
    ThreadId& global = threads_[index_of(local)];
    if (index_of(global) == UINT32_MAX) {
      const Thread& thread = dictionary_.threads()[index_of(local)];
      const auto [at, inserted] = thread_ids_.emplace(thread.pid + "\n" + thread.tid, static_cast<std::uint32_t>(tables_.threads.size()));
      if (inserted) tables_.threads.push_back(thread);
      global = ThreadId{at->second};
    }
    return global;
  }

 private:
  WorkerDictionary& dictionary_;
  TraceTables& tables_;
  std::unordered_map<std::string, std::uint32_t>& thread_ids_;
  std::set<std::string, std::less<>>& invalid_escapes_;
  std::vector<StringId> strings_;
  std::vector<ThreadId> threads_;
};

template <class T>
void append_column(std::vector<T>& to, std::vector<T>& from, Translation& translate, std::uint32_t collectives_before) {
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
void append_table(Table& to, Table& from, Translation& translate, std::uint32_t collectives_before) {
  std::apply([&](auto... member) { (append_column(to.*member, from.*member, translate, collectives_before), ...); }, Table::columns());
}

template <class Table>
void reserve_table(Table& table, std::size_t rows) {
  for_each_column(table, [&](auto& column) { column.reserve(rows); });
}

class Assembler {
 public:
  Assembler(std::vector<EventPart> parts, std::vector<EventParser>& parsers, const TraceDocument& document, std::string_view shown)
      : parts_(std::move(parts)), parsers_(parsers), document_(document), shown_(shown), metadata_(parse_metadata(document.metadata())) {}

  TraceTables run() {
    collect_notes();
    join_tables();
    const auto first = std::find_if(parts_.begin(), parts_.end(), [](const EventPart& p) { return p.has_first_time; });
    if (first != parts_.end()) first_time_ns_ = first->first_time_ns;
    base_ns_ = metadata_.base_ns.value_or(0);
    absolute_ts_ = !metadata_.base_ns && first_time_ns_ > kAbsoluteTs;
    pair_open_spans();
    set_times();
    quarantine_gpu_work();
    set_facts();
    return std::move(tables_);
  }

 private:
  std::string where(std::uint64_t offset) const { return std::string(shown_) + " @ byte " + std::to_string(offset); }
  void count(HealthKind kind, std::uint64_t offset, std::string_view what) {
    if (tables_.health.wants_example(kind)) {
      tables_.health.add(kind, where(offset), std::string(what));
    } else {
      tables_.health.add(kind, {}, {});
    }
  }

  void collect_notes() {
    for (const EventPart& part : parts_) {
      std::vector<std::uint64_t> left = part.note_counts;
      for (const EventNote& note : part.notes) {
        count(note.kind, note.offset, note.what);
        left[static_cast<std::size_t>(note.kind)]--;
      }
      for (std::size_t k = 0; k < left.size(); k++) tables_.health.add(static_cast<HealthKind>(k), {}, {}, left[k]);
    }
    for (const TraceDocument::Note& note : document_.notes()) count(note.kind, note.offset, note.what);
  }

  void join_tables() {
    std::size_t gpu = 0, launches = 0, ranges = 0, memory = 0, collectives = 0;
    for (const EventPart& p : parts_) {
      gpu += num_rows(p.gpu_work);
      launches += num_rows(p.launches);
      ranges += num_rows(p.ranges);
      memory += num_rows(p.memory);
      collectives += num_rows(p.collectives);
    }
    reserve_table(tables_.gpu_work, gpu);
    reserve_table(tables_.launches, launches);
    reserve_table(tables_.ranges, ranges);
    reserve_table(tables_.memory, memory);
    reserve_table(tables_.collectives, collectives);
    std::vector<Translation> translations;
    translations.reserve(parsers_.size());
    for (EventParser& parser : parsers_) translations.emplace_back(parser.dictionary(), tables_, thread_ids_, invalid_escapes_);
    for (EventPart& part : parts_) {
      Translation& translate = translations[part.worker];
      for (OpenSpan& span : part.open_spans) {
        span.name = translate(span.name);
        span.thread = translate(span.thread);
        if (span.table == SpanTable::gpu_work) span.row += static_cast<std::uint32_t>(num_rows(tables_.gpu_work));
        if (span.table == SpanTable::launches) span.row += static_cast<std::uint32_t>(num_rows(tables_.launches));
        if (span.table == SpanTable::ranges) span.row += static_cast<std::uint32_t>(num_rows(tables_.ranges));
        open_spans_.push_back(span);
      }
      const auto collectives_before = static_cast<std::uint32_t>(num_rows(tables_.collectives));
      append_table(tables_.gpu_work, part.gpu_work, translate, collectives_before);
      append_table(tables_.launches, part.launches, translate, collectives_before);
      append_table(tables_.ranges, part.ranges, translate, collectives_before);
      append_table(tables_.memory, part.memory, translate, collectives_before);
      append_table(tables_.collectives, part.collectives, translate, collectives_before);
      last_time_ns_ = std::max(last_time_ns_, part.last_time_ns);
    }
    for (const std::string& raw : invalid_escapes_) tables_.health.add(HealthKind::text_repaired, std::string(shown_), "invalid escape in \"" + raw.substr(0, 120) + "\"");
  }

  std::int64_t* duration_of(const OpenSpan& span) {
    switch (span.table) {
      case SpanTable::gpu_work: return &tables_.gpu_work.duration_ns[span.row];
      case SpanTable::launches: return &tables_.launches.duration_ns[span.row];
      case SpanTable::ranges: return &tables_.ranges.duration_ns[span.row];
      case SpanTable::none: return nullptr;
    }
    return nullptr;
  }

  void close(const OpenSpan& span, std::int64_t end_ns) {
    std::int64_t duration = 0;
    if (__builtin_sub_overflow(end_ns, span.time_ns, &duration)) duration = kTimeLimit;
    if (std::int64_t* target = duration_of(span)) *target = duration;
    if (span.table == SpanTable::none && span.host_window && duration >= 0 && duration < kTimeLimit) paired_host_.include(span.time_ns, end_ns);
  }

  // Per thread, in order of (time, offset): an end closes the innermost open begin of its name.
  void pair_open_spans() {
    dead_gpu_.assign(num_rows(tables_.gpu_work), 0);
    std::stable_sort(open_spans_.begin(), open_spans_.end(), [](const OpenSpan& a, const OpenSpan& b) {
      return std::tie(a.thread, a.time_ns, a.offset) < std::tie(b.thread, b.time_ns, b.offset);
    });
    std::vector<OpenSpan> stack;
    const auto flush = [&] {
      for (const OpenSpan& span : stack) {
        const std::string name = std::string(tables_.strings.view(span.name)).substr(0, 60);
        if (span.table == SpanTable::gpu_work) {
          dead_gpu_[span.row] = 1;
          count(HealthKind::unclosed_gpu_span, span.offset, name);
        } else {
          count(HealthKind::unclosed_span, span.offset, name);
          close(span, std::max(last_time_ns_, span.time_ns));
        }
      }
      stack.clear();
    };
    for (std::size_t i = 0; i < open_spans_.size(); i++) {
      const OpenSpan& span = open_spans_[i];
      if (i > 0 && span.thread != open_spans_[i - 1].thread) flush();
      if (span.begin) {
        stack.push_back(span);
        continue;
      }
      auto match = stack.rbegin();
      if (span.named) match = std::find_if(stack.rbegin(), stack.rend(), [&](const OpenSpan& b) { return b.name == span.name; });
      if (match == stack.rend()) {
        count(HealthKind::unmatched_end, span.offset, std::string(tables_.strings.view(span.name)).substr(0, 60));
        continue;
      }
      close(*match, span.time_ns);
      stack.erase(std::next(match).base());
    }
    flush();
  }

  // Adds the base and applies the rules that need no host window. Returns whether the record stays.
  bool make_absolute(std::int64_t& start_ns, std::int64_t duration_ns, std::uint64_t offset, StringId name) {
    const std::int64_t written = start_ns;
    std::int64_t absolute = 0;
    std::int64_t end = 0;
    HealthKind kind = HealthKind::count_;
    if (__builtin_add_overflow(written, base_ns_, &absolute) || __builtin_add_overflow(absolute, duration_ns, &end) || absolute >= kTimeLimit ||
        absolute <= -kTimeLimit || end >= kTimeLimit || end <= -kTimeLimit || duration_ns >= kTimeLimit) {
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
    count(kind, offset, std::string(tables_.strings.view(name)).substr(0, 60) + ", start " + std::to_string(written) + " ns, duration " + std::to_string(duration_ns) + " ns");
    return false;
  }

  template <class Table>
  void set_host_times(Table& table) {
    std::vector<std::uint8_t> keep(num_rows(table), 1);
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (make_absolute(table.start_ns[i], table.duration_ns[i], table.offset[i], table.name[i])) {
        host_.include(table.start_ns[i], table.start_ns[i] + table.duration_ns[i]);
      } else {
        keep[i] = 0;
        all = false;
      }
    }
    if (!all) keep_rows(table, keep);
  }

  void include_written(const HostExtent& extent) {
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (extent.first_ns > extent.last_ns) return;
    if (__builtin_add_overflow(extent.first_ns, base_ns_, &first) || __builtin_add_overflow(extent.last_ns, base_ns_, &last)) return;
    if (first > -kTimeLimit && last < kTimeLimit) host_.include(first, last);
  }

  void set_times() {
    set_host_times(tables_.ranges);
    set_host_times(tables_.launches);
    include_written(paired_host_);
    for (const EventPart& part : parts_) {
      include_written(part.host);
      if (part.num_zero_time_host == 0) continue;
      if (absolute_ts_) {
        tables_.health.add(HealthKind::zero_timestamp, where(part.zero_time_offset), "host record at ts 0", part.num_zero_time_host);
      } else {
        include_written(part.zero_time_host);
      }
    }
    std::vector<std::uint8_t> keep(num_rows(tables_.memory), 1);
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (__builtin_add_overflow(tables_.memory.time_ns[i], base_ns_, &tables_.memory.time_ns[i])) {
        keep[i] = 0;
        all = false;
      }
    }
    if (!all) keep_rows(tables_.memory, keep);
  }

  void quarantine_gpu_work() {
    GpuWorkTable& t = tables_.gpu_work;
    std::vector<std::uint8_t> keep(num_rows(t), 1);
    const bool window = host_.first_ns <= host_.last_ns;
    const std::int64_t slack = window ? std::max(host_.last_ns - host_.first_ns, kWindowSlack) : 0;
    bool all = true;
    for (std::size_t i = 0; i < keep.size(); i++) {
      if (dead_gpu_[i] != 0) {
        keep[i] = 0;
      } else if (!make_absolute(t.start_ns[i], t.duration_ns[i], t.offset[i], t.name[i])) {
        keep[i] = 0;
      } else if (window && (host_.first_ns - t.start_ns[i] > slack || t.start_ns[i] + t.duration_ns[i] - host_.last_ns > slack)) {
        keep[i] = 0;
        count(HealthKind::outside_host_window, t.offset[i],
              std::string(tables_.strings.view(t.name[i])).substr(0, 60) + ", start " + std::to_string(t.start_ns[i]) + " ns; host records from " +
                  std::to_string(host_.first_ns) + " to " + std::to_string(host_.last_ns) + " ns");
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
    facts.devices = metadata_.devices;
    facts.host = metadata_.host;
    facts.world_size = metadata_.world_size;
    facts.vendor = vendor(hip, cuda);
    if (metadata_.rank) {
      facts.rank = metadata_.rank;
      facts.rank_source = RankSource::metadata;
      if (process_group_rank != kNoNumber && process_group_rank != *metadata_.rank && world_group_only()) {
        tables_.health.add(HealthKind::rank_sources_disagree, std::string(shown_),
                           "distributedInfo says " + std::to_string(*metadata_.rank) + ", the process group " + std::to_string(process_group_rank));
      }
    } else if (process_group_rank != kNoNumber) {
      facts.rank = process_group_rank;
      facts.rank_source = RankSource::process_group;
    }
    if (facts.clock == ClockDomain::relative && num_rows(tables_.gpu_work) > 0) tables_.health.add(HealthKind::relative_clock, std::string(shown_), "no baseTimeNanoseconds, and ts is no UNIX time");
    if (num_rows(tables_.gpu_work) == 0) tables_.health.add(HealthKind::no_gpu_records, std::string(shown_), "no kernel, memcpy or memset record");
    if (unknown > 0) tables_.health.add(HealthKind::unknown_gpu_category, where(unknown_offset), "records of another accelerator", unknown);
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
    if (processes.size() > 1) tables_.health.add(HealthKind::several_processes, std::string(shown_), std::to_string(processes.size()) + " processes make launch calls");
  }

  std::vector<EventPart> parts_;
  std::vector<EventParser>& parsers_;
  const TraceDocument& document_;
  std::string_view shown_;
  TraceMetadata metadata_;
  TraceTables tables_;
  std::unordered_map<std::string, std::uint32_t> thread_ids_;
  std::set<std::string, std::less<>> invalid_escapes_;
  std::vector<OpenSpan> open_spans_;
  std::vector<std::uint8_t> dead_gpu_;
  HostExtent host_;          // absolute
  HostExtent paired_host_;   // as written
  std::int64_t last_time_ns_ = INT64_MIN;
  std::int64_t first_time_ns_ = 0;
  std::int64_t base_ns_ = 0;
  bool absolute_ts_ = false;
};

}  // namespace

TraceTables assemble(std::vector<EventPart> parts, std::vector<EventParser>& parsers, const TraceDocument& document, std::string_view shown) {
  return Assembler(std::move(parts), parsers, document, shown).run();
}

bool fractions_are_unpadded(const std::vector<EventPart>& parts, const TraceDocument& document) {
  if (document.metadata().contains("baseTimeNanoseconds")) return false;
  std::uint8_t shape = 0;
  for (const EventPart& part : parts) shape |= part.fraction_shape;
  return FractionShape::is_unpadded(shape);
}

}  // namespace chopper
