// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "report/html_template.h"
#include "report/json.h"

namespace chopper {
namespace {

constexpr std::string_view kDataMark = "@DATA@";

// What a page holds at most. With 64 gpus every figure still shows each of them. Rows of windows have about 1.8 kB of
// JSON, those of collectives 0.4 kB and of kernels 0.5 kB: each of the three limits is 1 to 3.6 MB, and a page of eight
// ranks stays below 6 MB.
constexpr std::size_t kMaxGpus = 64;
constexpr std::size_t kMaxWindows = 2000;
constexpr std::size_t kMaxCollectives = 6000;
constexpr std::size_t kMaxKernels = 2000;
// One row for each gpu of the largest runs; 0.5 kB each.
constexpr std::size_t kMaxRanks = 4096;
// With many gpus a page still holds so many iterations.
constexpr std::size_t kMinIterations = 4;

// A gpu as rows refer to it; -1 stands for unknown.
using GpuKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

std::int64_t key_part(const Field<std::int64_t>& field) { return field.present() ? field.value() : -1; }

template <class Row>
GpuKey key_of(const Row& row) {
  return {row.input, key_part(row.rank), key_part(row.gpu)};
}

// `count` places from 0 to size - 1, evenly spread, both ends among them.
std::set<std::size_t> spread_places(std::size_t size, std::size_t count) {
  std::set<std::size_t> places;
  if (size <= count) {
    for (std::size_t i = 0; i < size; i++) places.insert(i);
  } else {
    for (std::size_t i = 0; i < count; i++) places.insert(i * (size - 1) / (count - 1));
  }
  return places;
}

// The gpus whose rows the page holds: all, or a quarter of the limit each from the slowest and the fastest, the rest
// evenly spread.
std::set<GpuKey> chosen_gpus(const Answer& answer) {
  std::vector<GpuKey> all;
  for (const TimelineRow& row : answer.timeline) all.push_back(key_of(row));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() <= kMaxGpus) return {all.begin(), all.end()};
  std::vector<const RankRow*> by_speed;
  for (const RankRow& row : answer.ranks) {
    if (row.compute_ratio.present()) by_speed.push_back(&row);
  }
  std::stable_sort(by_speed.begin(), by_speed.end(), [](const RankRow* a, const RankRow* b) {
    return a->compute_ratio.value() > b->compute_ratio.value();
  });
  std::set<GpuKey> chosen;
  const std::size_t each_end = std::min(kMaxGpus / 4, by_speed.size() / 2);
  for (std::size_t i = 0; i < each_end; i++) {
    chosen.insert(key_of(*by_speed[i]));
    chosen.insert(key_of(*by_speed[by_speed.size() - 1 - i]));
  }
  for (const std::size_t place : spread_places(all.size(), kMaxGpus - chosen.size())) chosen.insert(all[place]);
  return chosen;
}

template <class Row>
class Cutter {
 public:
  Cutter(const std::vector<Row>& rows, std::vector<LeftOutRows>& left_out) : rows_(rows), left_out_(left_out) {}

  /// Returns the rows that `keep` accepts, and notes it when some are left out.
  template <class Keep>
  std::vector<Row> keep_if(const std::string& rule, Keep keep) const {
    std::vector<Row> kept;
    std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(kept), keep);
    note(kept.size(), rule);
    return kept;
  }

 private:
  // A table that comes in two parts (the time line) has one entry.
  void note(std::size_t num_kept, const std::string& rule) const {
    if (num_kept == rows_.size()) return;
    if (!left_out_.empty() && left_out_.back().table == Row::table) {
      left_out_.back().num_rows += rows_.size();
      left_out_.back().num_embedded += num_kept;
      left_out_.back().rule = rule;
    } else {
      left_out_.push_back({Row::table, rows_.size(), num_kept, rule});
    }
  }

  const std::vector<Row>& rows_;
  std::vector<LeftOutRows>& left_out_;
};

std::int64_t num_iterations_of(const std::vector<TimelineRow>& windows) {
  std::int64_t count = 0;
  for (const TimelineRow& row : windows) count = std::max(count, key_part(row.ordinal) + 1);
  return count;
}

// The first whole iterations of each gpu that fit, at least one.
std::vector<CollectiveRow> cut_collectives(const std::vector<CollectiveRow>& rows, const std::set<GpuKey>& gpus,
                                           bool is_cut, std::vector<LeftOutRows>& left_out) {
  std::map<std::int64_t, std::size_t> per_iteration;  // rows of the chosen gpus; -1: of no iteration
  for (const CollectiveRow& row : rows) {
    if (!is_cut || gpus.contains(key_of(row))) per_iteration[key_part(row.ordinal)]++;
  }
  std::set<std::int64_t> kept;
  std::size_t num_kept = 0;
  for (const auto& [ordinal, count] : per_iteration) {
    if (ordinal < 0) continue;
    if (!kept.empty() && num_kept + count > kMaxCollectives) break;
    kept.insert(ordinal);
    num_kept += count;
  }
  const std::size_t num_iterations = per_iteration.size() - per_iteration.count(-1);
  std::size_t outside_budget = kMaxCollectives - std::min(kMaxCollectives, num_kept);
  if (kept.size() == num_iterations && per_iteration[-1] <= outside_budget && !is_cut) return rows;
  std::string rule = is_cut ? "those of the chosen GPUs" : "those of all GPUs";
  if (kept.size() < num_iterations)
    rule += fmt::format(", of the first {} of {} iterations", kept.size(), num_iterations);
  return Cutter(rows, left_out).keep_if(rule, [&](const CollectiveRow& row) {
    if (is_cut && !gpus.contains(key_of(row))) return false;
    if (row.ordinal.present()) return kept.contains(row.ordinal.value());
    if (outside_budget == 0) return false;
    outside_budget--;
    return true;
  });
}

// The kernels of each gpu that take most time.
std::vector<KernelSummaryRow> cut_kernels(const std::vector<KernelSummaryRow>& rows, const std::set<GpuKey>& gpus,
                                          bool is_cut, std::vector<LeftOutRows>& left_out) {
  if (rows.size() <= kMaxKernels && !is_cut) return rows;
  const std::size_t each = std::max<std::size_t>(10, kMaxKernels / std::max<std::size_t>(1, gpus.size()));
  std::map<GpuKey, std::vector<std::int64_t>> times;
  for (const KernelSummaryRow& row : rows) times[key_of(row)].push_back(row.total_ns);
  for (auto& [gpu, values] : times) {
    std::sort(values.begin(), values.end(), std::greater<>());
    values.resize(std::min(values.size(), each));
  }
  const std::string rule = fmt::format("the {} that take most time of each {}GPU", each, is_cut ? "chosen " : "");
  return Cutter(rows, left_out).keep_if(rule, [&](const KernelSummaryRow& row) {
    return (!is_cut || gpus.contains(key_of(row))) && row.total_ns >= times[key_of(row)].back();
  });
}

std::string facts_json(const HtmlOptions& options, const std::vector<LeftOutRows>& left_out) {
  std::string out = "{\"run\":";
  append_json_string(out, options.run_name);
  out += ",\"left_out\":[";
  for (const LeftOutRows& table : left_out) {
    if (out.back() != '[') out += ',';
    fmt::format_to(std::back_inserter(out), "{{\"table\":\"{}\",\"rows\":{},\"embedded\":{},\"rule\":", table.table,
                   table.num_rows, table.num_embedded);
    append_json_string(out, table.rule);
    out += '}';
  }
  return out + "]}";
}

// Hands over `text` inside a script element that holds data.
void open_script(std::string& out, std::string_view id) {
  fmt::format_to(std::back_inserter(out), "<script type=\"application/json\" id=\"{}\">", id);
}

}  // namespace

void ScriptEscaper::append(std::string& out, std::string_view piece) {
  // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
  constexpr std::string_view kStart = "\xE2\x80";
  for (const char c : piece) {
    if (held_.size() == 2 && (c == '\xA8' || c == '\xA9')) {
      out += c == '\xA8' ? "\\u2028" : "\\u2029";
      held_.clear();
    } else if (held_.size() < 2 && c == kStart[held_.size()]) {
      held_ += c;
    } else {
      finish(out);
      if (c == kStart[0]) {
        held_ += c;
      } else if (c == '<') {
        out += "\\u003c";
      } else {
        out += c;
      }
    }
  }
}

void ScriptEscaper::finish(std::string& out) {
  out += held_;
  held_.clear();
}

PageTables page_tables(const Answer& answer) {
  PageTables page;
  const std::set<GpuKey> gpus = chosen_gpus(answer);
  std::set<GpuKey> all;
  for (const TimelineRow& row : answer.timeline) all.insert(key_of(row));
  const bool is_cut = gpus.size() < all.size();
  const std::string rule =
      is_cut ? fmt::format("those of {} of {} GPUs: the slowest, the fastest, and others evenly chosen", gpus.size(),
                           all.size())
             : "";
  const auto of_chosen = [&](const auto& row) { return !is_cut || gpus.contains(key_of(row)); };
  const auto cut = [&]<class Row>(const std::vector<Row>& rows) {
    return Cutter(rows, page.left_out).keep_if(rule, of_chosen);
  };
  Answer& out = page.answer;
  // The page tells of traces: counter passes are in no figure of it.
  std::copy_if(answer.inputs.begin(), answer.inputs.end(), std::back_inserter(out.inputs),
               [](const InputRow& input) { return input.is_trace; });
  out.health = answer.health;
  out.steps = answer.steps;
  out.throughput = answer.throughput;
  out.gpus = cut(answer.gpus);
  out.coverage = cut(answer.coverage);
  out.label_rules = cut(answer.label_rules);
  out.timeline = cut(answer.timeline);
  const std::size_t max_iterations = std::max(kMinIterations, kMaxWindows / std::max<std::size_t>(1, gpus.size()));
  const auto early = [&](const auto& row) {
    const bool in_time = !row.ordinal.present() || row.ordinal.value() < static_cast<std::int64_t>(max_iterations);
    return of_chosen(row) && in_time;
  };
  const std::string early_rule =
      fmt::format("those of the first {} of {} iterations", max_iterations, num_iterations_of(answer.windows));
  const bool all_early = num_iterations_of(answer.windows) <= static_cast<std::int64_t>(max_iterations);
  const std::string iterations_rule = all_early ? rule : is_cut ? rule + ", and " + early_rule : early_rule;
  out.windows = Cutter(answer.windows, page.left_out).keep_if(iterations_rule, early);
  out.operations = cut(answer.operations);
  out.launch = cut(answer.launch);
  out.host_blockers = cut(answer.host_blockers);
  out.memory = Cutter(answer.memory, page.left_out).keep_if(iterations_rule, early);
  const std::set<std::size_t> places = spread_places(answer.ranks.size(), kMaxRanks);
  std::size_t place = 0;
  out.ranks = Cutter(answer.ranks, page.left_out)
                  .keep_if(fmt::format("those of {} GPUs, evenly chosen, with the slowest and the fastest", kMaxRanks),
                           [&](const RankRow& row) {
                             return places.contains(place++) || (is_cut && gpus.contains(key_of(row)));
                           });
  out.collectives = cut_collectives(answer.collectives, gpus, is_cut, page.left_out);
  out.kernel_summary = cut_kernels(answer.kernel_summary, gpus, is_cut, page.left_out);
  return page;
}

bool has_html_page() { return !kHtmlTemplate.empty(); }

bool write_html(const Answer& answer, const HtmlOptions& options, const TextSink& sink) {
  const std::size_t mark = kHtmlTemplate.find(kDataMark);
  CHOPPER_CHECK(mark != std::string_view::npos);
  const PageTables page = page_tables(answer);
  TextBuffer buffer(sink);
  std::string& out = buffer.text();
  out += kHtmlTemplate.substr(0, mark);
  ScriptEscaper escaper;
  open_script(out, "page-facts");
  escaper.append(out, facts_json(options, page.left_out));
  out += "</script>\n";
  open_script(out, "report");
  write_json(page.answer, {.version = options.version}, [&](std::string_view piece) {
    escaper.append(out, piece);
    buffer.flush_when_full();
    return !buffer.stopped();
  });
  escaper.finish(out);
  out += "</script>";
  out += kHtmlTemplate.substr(mark + kDataMark.size());
  return buffer.finish();
}

}  // namespace chopper
