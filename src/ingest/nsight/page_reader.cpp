// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/page_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ingest/csv/csv_reader.h"
#include "ingest/file_head.h"
#include "ingest/nsight/columns.h"
#include "ingest/nsight/launch_extents.h"
#include "ingest/nsight/metric_names.h"
#include "ingest/nsight/number.h"
#include "ingest/nsight/page_values.h"
#include "ingest/rocprof/pass_builder.h"
#include "ingest/source_notes.h"

namespace chopper::nsight {
namespace {

using rocprof::DispatchRow;
using rocprof::PassBuilder;

// The compute capability "9.0", or "9,0", as the architecture "sm_90"; empty for what is none.
std::string architecture_of(std::string_view capability) {
  std::string digits;
  std::size_t num_separators = 0;
  for (const char c : capability) {
    if (c >= '0' && c <= '9') {
      digits += c;
    } else if ((c != '.' && c != ',') || digits.empty() || num_separators++ > 0) {
      return {};
    }
  }
  const bool is_whole = num_separators == 1 && capability.back() >= '0' && capability.back() <= '9';
  return is_whole ? "sm_" + digits : std::string();
}

constexpr std::size_t kShownLineBytes = 240;  // in health records and errors: those of the profiler must be readable

bool parse_whole_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

// The line that cells were read from, without the quotes at its ends.
std::string_view line_of(std::span<const CsvCell> cells) {
  const std::string_view first = cells.front().text, last = cells.back().text;
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

// `step 12"0"`: the application had not ended its line when the row was printed. The id, or nothing.
std::string_view id_behind_output(std::string_view cell) {
  if (!cell.ends_with('"')) return {};
  cell.remove_suffix(1);
  const std::size_t quote = cell.rfind('"');
  if (quote == std::string_view::npos) return {};
  const std::string_view id = cell.substr(quote + 1);
  return id.find_first_not_of("0123456789") == std::string_view::npos ? id : std::string_view();
}

// Of a file on disk; 0 where there is none.
std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = path.empty() ? 0 : std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

class PageReader {
 public:
  PageReader(ByteSource& source, std::string_view shown, const ReadOptions& options)
      : source_(source),
        shown_(shown),
        options_(options),
        rows_(source, options.window_bytes),
        file_bytes_(size_of(options.path)),
        builder_(tables_.pass.emplace()),
        values_(*tables_.pass, builder_) {}

  Result<TraceTables> read() {
    CounterPass& pass = *tables_.pass;
    pass.file = shown_;
    pass.content = PassContent::counters;
    if (auto error = read_rows()) return std::move(*error);
    if (const Error* error = rows_.error()) return *error;
    if (columns_.page == Page::none) return no_table();
    values_.settle([this](std::uint64_t offset, const std::string& what) {
      add_at(HealthKind::ambiguous_number, offset, [&] { return what; });
    });
    builder_.finish(tables_.health, [this](std::uint64_t offset) { return where(offset); });
    note_missing();
    note_dispatches();
    TraceFacts& facts = tables_.facts;
    facts.vendor = Vendor::nvidia;
    facts.text_bytes = rows_.text_bytes();
    if (host_ && !several_hosts_) facts.host = host_;
    if (facts.num_records == 0) tables_.health.add(HealthKind::no_rows, std::string(shown_), "the header alone");
    add_source_notes(source_, shown_, tables_.health);
    publish_progress();
    return std::move(tables_);
  }

 private:
  std::string where(std::uint64_t offset) const { return std::string(shown_) + " @ byte " + std::to_string(offset); }
  // Texts are made for the few examples that are kept.
  template <class What>
  void add_at(HealthKind kind, std::uint64_t offset, const What& what) {
    if (tables_.health.wants_example(kind)) {
      tables_.health.add(kind, where(offset), what());
    } else {
      tables_.health.add(kind, {}, {});
    }
  }
  template <class What>
  void add_here(HealthKind kind, const What& what) {
    add_at(kind, rows_.offset(), what);
  }
  bool refuse_cell(std::size_t column, std::span<const CsvCell> cells) {
    add_here(HealthKind::unreadable_value,
             [&] { return names_[column] + " is \"" + std::string(cells[column].text.substr(0, kShownBytes)) + "\""; });
    return false;
  }

  Error no_table() const {
    if (!error_line_.empty())
      return {ErrorCode::bad_input, "no metrics, but an error of Nsight Compute: " + error_line_, std::string(shown_),
              "mend what it says and profile again"};
    return {ErrorCode::unrecognised, "no table of Nsight Compute in it", std::string(shown_),
            "print one with ncu --import REPORT --csv --page raw --print-units base"};
  }

  std::optional<Error> read_rows() {
    std::uint64_t num_lines = 0;
    while (true) {
      const CsvReader::Next next = rows_.next();
      if (next == CsvReader::Next::end || next == CsvReader::Next::error) return std::nullopt;
      if ((++num_lines & 1023) == 0) publish_progress();
      if (next == CsvReader::Next::unreadable) {
        take_line();
      } else if (is_header(rows_.cells())) {
        if (auto error = start_table(next == CsvReader::Next::cut)) return error;
      } else if (next == CsvReader::Next::cut) {
        if (auto error = take_cut_row()) return error;
      } else if (auto error = take_row(rows_.cells())) {
        return error;
      }
    }
  }

  std::optional<Error> start_table(bool is_cut) {
    std::vector<std::string> names;
    for (const CsvCell& cell : rows_.cells()) names.emplace_back(unquoted(cell, scratch_));
    names[0] = "ID";
    Columns columns = columns_of(names, rows_.cells()[1].quoted);
    if (is_cut || columns.page == Page::none) {
      if (columns_.page != Page::none) {
        tables_.facts.num_records++;
        add_here(is_cut ? HealthKind::truncated : HealthKind::unreadable_row,
                 [] { return std::string("a header that is cut or damaged"); });
        return std::nullopt;
      }
      return Error{ErrorCode::bad_input, "the header of a table of Nsight Compute is cut or damaged",
                   std::string(shown_), "copy the file again, or print it again with ncu --csv"};
    }
    if (columns_.page != Page::none) add_here(HealthKind::repeated_header, [] { return std::string("header"); });
    columns_ = std::move(columns);
    names_ = std::move(names);
    wants_units_ = columns_.page == Page::raw;
    column_metrics_.clear();
    identity_.clear();
    find_identity();
    if (tables_.pass->writer.empty())
      tables_.pass->writer =
          columns_.page == Page::details ? "Nsight Compute, page details" : "Nsight Compute, page raw";
    return std::nullopt;
  }

  // The cells that tell a kernel stand together, in front of those of its metrics: where their text is that of the row
  // before, so is the kernel.
  void find_identity() {
    num_identity_ = 0;
    for (const std::size_t column : {columns_.id, columns_.process, columns_.host, columns_.kernel, columns_.stream,
                                     columns_.block, columns_.grid, columns_.device, columns_.capability}) {
      if (column != kNoColumn) num_identity_ = std::max(num_identity_, column + 1);
    }
    num_needed_ = num_identity_;
    if (columns_.page == Page::raw) return;
    num_needed_ = std::max({num_needed_, columns_.metric + 1, columns_.value + 1});
    for (const std::size_t column : {columns_.section, columns_.metric, columns_.unit, columns_.value}) {
      if (column < num_identity_) num_identity_ = 0;  // another order: every row is read in full
    }
  }

  // A line that is no CSV: damaged, or not a row at all.
  void take_line() {
    const std::string_view line = rows_.line();
    if (columns_.page != Page::none && line.starts_with('"')) {
      tables_.facts.num_records++;
      add_here(HealthKind::unreadable_row, [] { return std::string("not CSV"); });
      return;
    }
    take_output(line);
  }

  void take_output(std::string_view line) {
    line = line.substr(0, kShownLineBytes);
    if (!line.starts_with("==ERROR==")) {
      add_here(HealthKind::other_output, [&] { return std::string(line); });
      return;
    }
    if (error_line_.empty()) error_line_ = line;
    add_here(HealthKind::profiler_error, [&] { return std::string(line); });
  }

  // The last line, without its end: a cell in quotes is whole, for they are closed.
  std::optional<Error> take_cut_row() {
    const std::span<const CsvCell> cells = rows_.cells();
    const bool is_output =
        cells.empty() ? columns_.page == Page::none || !rows_.line().starts_with('"') : !is_row(cells);
    if (is_output) {
      take_output(cells.empty() ? rows_.line() : line_of(cells));
      return std::nullopt;
    }
    const bool is_whole = columns_.page == Page::details ? cells.size() >= num_needed_ && cells[columns_.value].quoted
                                                         : cells.size() == columns_.count && cells.back().quoted;
    if (is_whole) return take_row(cells);
    tables_.facts.num_records++;
    add_here(HealthKind::truncated, [] { return std::string("the last row has no line end: taken as cut"); });
    return std::nullopt;
  }

  bool is_row(std::span<const CsvCell> cells) const {
    if (columns_.page == Page::none) return false;
    const std::string_view first = cells[0].text;
    std::int64_t id = 0;
    if (!columns_.quoted) return parse_whole_number(first, id) || cells.size() >= columns_.count;
    if (cells[0].quoted) return cells.size() >= 3 || parse_whole_number(first, id);
    return first.ends_with('"') && cells.size() >= 3;  // damaged, or behind output
  }

  std::optional<Error> take_row(std::span<const CsvCell> cells) {
    if (!is_row(cells)) {
      take_output(line_of(cells));
      return std::nullopt;
    }
    const bool is_units =
        cells[0].text.empty() && cells.size() > columns_.kernel && cells[columns_.kernel].text.empty();
    if (wants_units_ && !is_units) {
      return Error{ErrorCode::bad_input, "the line of units below the header is missing", where(rows_.offset()),
                   "print it again with ncu --import REPORT --csv --page raw --print-units base"};
    }
    if (wants_units_) {
      read_units(cells);
      return std::nullopt;
    }
    tables_.facts.num_records++;
    std::string_view id = cells[0].text;
    if (columns_.quoted && !cells[0].quoted) {
      id = id_behind_output(id);
      if (id.empty()) {
        add_here(HealthKind::unreadable_row, [] { return std::string("its first cell is damaged"); });
        return std::nullopt;
      }
      add_here(HealthKind::text_repaired, [] { return std::string("output of the application before a row"); });
    }
    if (cells.size() < num_needed_) {
      add_here(HealthKind::short_row,
               [&] { return std::to_string(cells.size()) + " of " + std::to_string(num_needed_) + " cells"; });
      return std::nullopt;
    }
    if (cells.size() > columns_.count && !take_extra_cells(cells.subspan(columns_.count))) return std::nullopt;
    if (!find_dispatch(cells, id)) return std::nullopt;
    if (columns_.page == Page::details) {
      read_metric(cells);
    } else {
      read_metrics(cells);
    }
    return std::nullopt;
  }

  // More cells than the header has: empty ones are left out, others mean that a comma too many has moved the columns.
  bool take_extra_cells(std::span<const CsvCell> extra) {
    const auto what = [&] {
      return std::to_string(columns_.count + extra.size()) + " cells where the header has " +
             std::to_string(columns_.count);
    };
    const bool are_empty =
        std::all_of(extra.begin(), extra.end(), [](const CsvCell& cell) { return cell.text.empty(); });
    add_here(are_empty ? HealthKind::extra_cells : HealthKind::unreadable_value, what);
    return are_empty;
  }

  // ---- which kernel a row is of ----

  bool find_dispatch(std::span<const CsvCell> cells, std::string_view id) {
    std::string_view identity;
    if (num_identity_ > 0) {
      const std::string_view last = cells[num_identity_ - 1].text;
      identity = {id.data(), static_cast<std::size_t>(last.data() + last.size() - id.data())};
      if (!identity_.empty() && identity == identity_) return true;
    }
    identity_.clear();
    if (!add_dispatch(cells, id)) return false;
    identity_ = identity;
    return true;
  }

  bool add_dispatch(std::span<const CsvCell> cells, std::string_view id) {
    const auto text = [&](std::size_t column) { return column == kNoColumn ? std::string_view() : cells[column].text; };
    DispatchRow row;
    if (!parse_whole_number(id, row.dispatch_id)) return refuse_cell(columns_.id, cells);
    for (const auto& [column, number] :
         {std::pair{columns_.process, &row.process}, std::pair{columns_.stream, &row.stream}}) {
      if (!text(column).empty() && !parse_whole_number(text(column), *number)) return refuse_cell(column, cells);
    }
    if (text(columns_.kernel).empty()) return refuse_cell(columns_.kernel, cells);
    std::optional<Extent> block = Extent(), grid = Extent();
    if (columns_.block != kNoColumn) block = parse_extent(text(columns_.block));
    if (!block) return refuse_cell(columns_.block, cells);
    if (columns_.grid != kNoColumn) grid = parse_extent(text(columns_.grid));
    if (!grid) return refuse_cell(columns_.grid, cells);
    if (columns_.page == Page::raw && columns_.block == kNoColumn) block = extent_of_cells(cells, columns_.block_dim);
    if (columns_.page == Page::raw && columns_.grid == kNoColumn) grid = extent_of_cells(cells, columns_.grid_dim);
    PassKernel kernel;
    kernel.name = builder_.name(unquoted(cells[columns_.kernel], scratch_));
    set_extents(*grid, *block, kernel);
    row.kernel = builder_.kernel(kernel);
    row.device = device_of(cells);
    bool is_new = false;
    dispatch_ = builder_.dispatch(row, rows_.offset(), is_new);
    const std::string_view host = text(columns_.host);
    if (!host.empty() && !host_) host_ = host;
    several_hosts_ = several_hosts_ || (!host.empty() && host != *host_);
    return true;
  }

  std::uint32_t device_of(std::span<const CsvCell> cells) {
    const std::string_view written = columns_.device == kNoColumn ? "" : unquoted(cells[columns_.device], scratch_);
    std::int64_t number = 0;
    const bool is_number = parse_whole_number(written, number);
    const std::uint32_t device = builder_.device(is_number         ? "GPU " + std::to_string(number)
                                                 : written.empty() ? "a gpu"
                                                                   : std::string(written));
    CounterPass& pass = *tables_.pass;
    const bool is_known = std::any_of(pass.agents.begin(), pass.agents.end(),
                                      [&](const AgentFacts& agent) { return agent.type_index == number; });
    const bool is_described = columns_.capability != kNoColumn || columns_.product != kNoColumn;
    if (!is_number || is_known || !is_described) return device;
    AgentFacts facts;
    facts.is_gpu = true;
    facts.type_index = number;
    facts.vendor_name = "NVIDIA";
    if (columns_.capability < cells.size()) facts.architecture = architecture_of(cells[columns_.capability].text);
    if (columns_.product < cells.size()) facts.product = unquoted(cells[columns_.product], scratch_);
    if (columns_.num_sm < cells.size()) {
      const NumberCell count = parse_number(cells[columns_.num_sm].text, 0);
      if (count.form == NumberForm::number && count.value >= 1 && count.value < 1e6)
        facts.num_cu = static_cast<std::int64_t>(count.value);
    }
    facts.offset = rows_.offset();
    pass.agents.push_back(std::move(facts));
    return device;
  }

  // ---- values ----

  // Cells of a metric that have no number.
  struct Missing {
    std::uint64_t count = 0;
    std::vector<std::pair<std::uint64_t, std::string>> examples;  // the first ones, with their places
  };

  void read_metric(std::span<const CsvCell> cells) {
    builder_.reserve_values(1, source_.file_bytes_read(), file_bytes_);
    const auto text = [&](std::size_t column, std::string& scratch) {
      // Rows need a name and a value; unit and section may stand behind them, and the row may be short of them.
      return column < cells.size() ? unquoted(cells[column], scratch) : std::string_view();
    };
    const std::string_view name = text(columns_.metric, scratch_);
    if (name.empty()) {
      add_here(HealthKind::not_a_counter, [] { return std::string("advice of a rule"); });
      return;
    }
    std::string unit_scratch, section_scratch;
    Metric& metric = metrics_.find(name, text(columns_.unit, unit_scratch), text(columns_.section, section_scratch));
    add_value(metric, columns_.value, cells);
  }

  void read_units(std::span<const CsvCell> cells) {
    wants_units_ = false;
    std::string scratch;
    for (const std::size_t column : columns_.metrics) {
      const std::string_view unit = column < cells.size() ? unquoted(cells[column], scratch) : std::string_view();
      column_metrics_.push_back(metrics_.find(names_[column], unit, ""));
    }
  }

  void read_metrics(std::span<const CsvCell> cells) {
    builder_.reserve_values(columns_.metrics.size(), source_.file_bytes_read(), file_bytes_);
    for (std::size_t i = 0; i < columns_.metrics.size(); i++) {
      const std::size_t column = columns_.metrics[i];
      if (column >= cells.size()) break;
      if (!cells[column].text.empty()) add_value(column_metrics_[i], column, cells);  // else not collected
    }
  }

  void add_value(Metric& metric, std::size_t column, std::span<const CsvCell> cells) {
    const std::string_view text = cells[column].text;
    const auto shown = [&] { return metric.name + " is \"" + std::string(text.substr(0, kShownBytes)) + "\""; };
    switch (values_.add(metric, text, dispatch_, rows_.offset())) {
      case NumberForm::text:
        return add_here(HealthKind::not_a_counter, shown);
      case NumberForm::malformed:
        return add_here(HealthKind::unreadable_value, shown);
      case NumberForm::none:
        return keep_missing(metric, shown);
      case NumberForm::number:
      case NumberForm::ambiguous:  // counted once the whole file is known, where it stays so
        return;
    }
  }

  // Whether a kernel lacks the value, or all do, shows at the end.
  template <class Shown>
  void keep_missing(const Metric& metric, const Shown& shown) {
    Missing& missing = missing_[metric.name];
    if (missing.count++ < HealthLog::kMaxExamples) missing.examples.push_back({rows_.offset(), shown()});
  }

  // ---- once all is read ----

  void note_missing() {
    std::set<std::string_view> counted;
    for (const StringId counter : tables_.pass->counters) counted.insert(tables_.pass->strings.view(counter));
    std::vector<const Missing*> unknown;
    std::vector<std::pair<std::uint64_t, std::string>> examples;
    std::uint64_t count = 0;
    for (const auto& [name, missing] : missing_) {
      if (!counted.contains(name)) {
        unknown.push_back(&missing);
        continue;
      }
      count += missing.count;
      examples.insert(examples.end(), missing.examples.begin(), missing.examples.end());
    }
    std::sort(examples.begin(), examples.end());
    for (const auto& [offset, what] : examples) add_at(HealthKind::missing_value, offset, [&] { return what; });
    if (count > examples.size()) tables_.health.add(HealthKind::missing_value, {}, {}, count - examples.size());
    // In order of the file.
    std::sort(unknown.begin(), unknown.end(),
              [](const Missing* a, const Missing* b) { return a->examples.front() < b->examples.front(); });
    for (const Missing* missing : unknown) {
      const auto& [offset, shown] = missing->examples.front();
      tables_.health.add(HealthKind::unknown_counter, where(offset), shown + ", and no kernel has a value",
                         missing->count);
    }
  }

  void note_dispatches() {
    const CounterPass& pass = *tables_.pass;
    const std::vector<std::int64_t>& durations = pass.dispatches.duration_ns;
    const bool any = std::any_of(durations.begin(), durations.end(), [](std::int64_t d) { return d != kNoNumber; });
    std::vector<std::size_t> num_values(num_rows(pass.dispatches), 0);
    for (const std::uint32_t dispatch : pass.values.dispatch) num_values[dispatch]++;
    for (std::size_t i = 0; i < num_values.size(); i++) {
      const auto kernel = [&] { return "kernel " + std::to_string(pass.dispatches.dispatch_id[i]); };
      if (any && durations[i] == kNoNumber)
        add_at(HealthKind::missing_dispatch_time, pass.dispatches.offset[i], kernel);
      if (num_values[i] < pass.counters.size())
        add_at(HealthKind::incomplete_counters, pass.dispatches.offset[i], [&] {
          return kernel() + " has " + std::to_string(num_values[i]) + " of " + std::to_string(pass.counters.size());
        });
    }
  }

  void publish_progress() {
    if (options_.bytes_done == nullptr) return;
    const std::uint64_t now = source_.file_bytes_read();
    options_.bytes_done->fetch_add(now - published_, std::memory_order_relaxed);
    published_ = now;
  }

  ByteSource& source_;
  std::string_view shown_;
  const ReadOptions& options_;
  CsvReader rows_;
  std::uint64_t file_bytes_ = 0;  // on disk; 0: not known
  TraceTables tables_;
  PassBuilder builder_;
  PageValues values_;
  Columns columns_;
  std::vector<std::string> names_;  // of the header
  std::size_t num_identity_ = 0, num_needed_ = 0;
  bool wants_units_ = false;  // the next row is the line of units
  std::string identity_;      // text of the cells that tell the kernel of the last row
  std::uint32_t dispatch_ = 0;
  MetricNames metrics_;
  std::vector<Metric> column_metrics_;      // of Columns::metrics
  std::map<std::string, Missing> missing_;  // by metric
  std::optional<std::string> host_;
  bool several_hosts_ = false;
  std::string error_line_;
  std::string scratch_;
  std::uint64_t published_ = 0;
};

}  // namespace

Result<TraceTables> read_page(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const std::string head, file_head(open, kReportMagic.size()));
  if (head == kReportMagic) {
    return Error{ErrorCode::unrecognised,
                 "a report that only Nsight Compute reads: print it with ncu --import FILE --csv --page raw "
                 "--print-units base",
                 std::string(shown),
                 "ncu --import " + std::string(shown) + " --csv --page raw --print-units base > counters.csv"};
  }
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  return PageReader(*source, shown, options).read();
}

}  // namespace chopper::nsight
