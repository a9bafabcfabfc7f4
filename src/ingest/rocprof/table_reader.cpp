// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/table_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "ingest/csv/csv_reader.h"
#include "ingest/rocprof/columns.h"
#include "ingest/rocprof/pass_builder.h"
#include "ingest/source_notes.h"

namespace chopper::rocprof {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;
// The releases that drop instances keep 512 of a dispatch; MI300X has 128 L2 channels, so a fifth counter is too many,
// and a fourth leaves no room for any other block.
constexpr std::int64_t kMaxSafeTccCounters = 3;

// Whole numbers may have become "64.0" in other tools; ids can have all 64 bits.
bool parse_number(std::string_view text, std::int64_t& number) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) {
    number = static_cast<std::int64_t>(value);
    return true;
  }
  const auto other = parse_int64(text);
  number = other.value_or(kNoNumber);
  return other.has_value();
}

std::uint32_t extent_of(std::int64_t number) {
  return number > 0 && number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : 0;
}

bool is_counter_name(std::string_view text) {
  return !text.empty() && ((text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z') || text[0] == '_');
}

// The writer does not double quotes inside names. Names are one column, and no other cell holds quotes or commas: the
// cells before it are counted from the front, those behind it from the end of the line.
bool split_around(std::string_view line, std::size_t name_column, std::size_t num_columns,
                  std::vector<CsvCell>& cells) {
  cells.assign(num_columns, {});
  const auto bare = [](std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
  };
  for (std::size_t i = 0; i < name_column; i++) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return false;
    cells[i].text = bare(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  for (std::size_t i = num_columns; i-- > name_column + 1;) {
    const std::size_t comma = line.rfind(',');
    if (comma == std::string_view::npos) return false;
    cells[i].text = bare(line.substr(comma + 1));
    line = line.substr(0, comma);
  }
  if (line.size() < 2 || line.front() != '"' || line.back() != '"') return false;
  cells[name_column].text = line.substr(1, line.size() - 2);
  return true;
}

// Whether the last cell of a row without a line end is whole, beyond doubt: the end of a dispatch with as many digits
// as its start, or a value as the writer formats it, six decimals behind two digits or more, else eight and an
// exponent.
bool is_whole(std::span<const CsvCell> cells, std::span<const std::string> header) {
  if (cells.size() != header.size() || cells.size() < 2) return false;
  const std::string_view text = cells.back().text;
  const auto are_digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (header.back() == "End_Timestamp") {
    for (std::size_t i = 0; i + 1 < header.size(); i++) {
      if (header[i] == "Start_Timestamp")
        return are_digits(text) && text.size() == cells[i].text.size() && text >= cells[i].text;
    }
  }
  if (header.back() != "Counter_Value") return false;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || !are_digits(text.substr(0, point))) return false;
  const std::string_view decimals = text.substr(point + 1);
  if (point >= 2) return decimals.size() == 6 && are_digits(decimals);
  return decimals.size() == 12 && are_digits(decimals.substr(0, 8)) && decimals[8] == 'e' &&
         (decimals[9] == '+' || decimals[9] == '-') && are_digits(decimals.substr(10));
}

PassContent content_of(TableKind kind) {
  switch (kind) {
    case TableKind::kernel_trace:
      return PassContent::kernel_times;
    case TableKind::agent_info:
      return PassContent::agents;
    case TableKind::api_trace:
      return PassContent::marks;
    default:
      return PassContent::counters;
  }
}

class TableReader {
 public:
  TableReader(ByteSource& source, std::string_view shown, const ReadOptions& options)
      : source_(source), shown_(shown), options_(options), rows_(source, options.window_bytes) {}

  Result<TraceTables> read() {
    if (auto error = read_header()) return std::move(*error);
    CounterPass& pass = tables_.pass.emplace();
    pass.file = shown_;
    pass.writer = writer_of(kind_, header_);
    pass.content = content_of(kind_);
    PassBuilder builder(pass);
    builder_ = &builder;
    read_rows();
    if (const Error* error = rows_.error()) return *error;
    if (kind_ == TableKind::api_trace && num_rows(pass.marks) == 0) return refusal_of_calls(shown_);
    builder.finish(tables_.health, [this](std::uint64_t offset) { return where(offset); });
    if (kind_ == TableKind::agent_info) number_agents_by_type();
    if (pass.content == PassContent::counters) note_counters();
    TraceFacts& facts = tables_.facts;
    facts.vendor = Vendor::amd;
    facts.text_bytes = rows_.text_bytes();
    if (facts.num_records == 0) add(HealthKind::no_rows, std::string(shown_), "the header alone");
    add_source_notes(source_, shown_, tables_.health);
    publish_progress();
    return std::move(tables_);
  }

 private:
  std::string where(std::uint64_t offset) const { return std::string(shown_) + " @ byte " + std::to_string(offset); }
  void add(HealthKind kind, std::string place, std::string what, std::uint64_t count = 1) {
    tables_.health.add(kind, std::move(place), std::move(what), count);
  }
  // Texts are made for the few examples that are kept.
  template <class What>
  void add_here(HealthKind kind, const What& what) {
    if (tables_.health.wants_example(kind)) {
      add(kind, where(rows_.offset()), what());
    } else {
      tables_.health.add(kind, {}, {});
    }
  }

  std::optional<Error> read_header() {
    const CsvReader::Next next = rows_.next();
    if (const Error* error = rows_.error()) return *error;
    if (next == CsvReader::Next::row) {
      for (const CsvCell& cell : rows_.cells()) header_.emplace_back(unquoted(cell, scratch_));
    } else {
      header_ = header_in(rows_.line());
      for (const CsvCell& cell : rows_.cells()) header_.emplace_back(cell.text);
    }
    kind_ = kind_of(header_);
    if (auto error = refusal(kind_, header_, shown_)) return error;
    if (next != CsvReader::Next::row) {
      return Error{ErrorCode::bad_input, "the header of a table of rocprofv3 is cut or damaged", std::string(shown_),
                   "copy the file again, or record again"};
    }
    if (kind_ == TableKind::api_trace) {
      mark_columns_ = mark_columns(header_);
    } else if (kind_ != TableKind::agent_info) {
      columns_ = dispatch_columns(header_);
    }
    return std::nullopt;
  }

  void read_rows() {
    const std::size_t name_column = kind_ == TableKind::api_trace ? mark_columns_.name : columns_.kernel_name;
    std::uint64_t& num_records = tables_.facts.num_records;
    while (true) {
      switch (rows_.next()) {
        case CsvReader::Next::row:
          if (is_header(rows_.cells())) {
            add_here(HealthKind::repeated_header, [] { return std::string("header"); });
            continue;
          }
          num_records++;
          read_row(rows_.cells());
          break;
        case CsvReader::Next::unreadable:
          num_records++;
          set_aside_ = false;
          if (name_column != kNoColumn && split_around(rows_.line(), name_column, header_.size(), cells_) &&
              read_row(cells_)) {
            add_here(HealthKind::text_repaired, [] { return std::string("quotes in a name that are not doubled"); });
          } else if (!set_aside_) {
            add_here(HealthKind::unreadable_row, [] { return std::string("not CSV"); });
          }
          break;
        case CsvReader::Next::cut:
          num_records++;
          if (is_whole(rows_.cells(), header_)) {
            read_row(rows_.cells());
            break;
          }
          add_here(HealthKind::truncated, [] { return std::string("the last row has no line end: taken as cut"); });
          break;
        case CsvReader::Next::end:
        case CsvReader::Next::error:
          return;
      }
      if (has_calls_) return;
      if ((num_records & 1023) == 0) publish_progress();
    }
  }

  bool is_header(std::span<const CsvCell> cells) const {
    return cells.size() == header_.size() && cells[0].text == header_[0] &&
           std::equal(cells.begin(), cells.end(), header_.begin(),
                      [](const CsvCell& cell, const std::string& name) { return cell.text == name; });
  }

  // Returns whether the row is used; else it was counted, and set_aside_ is true.
  bool read_row(std::span<const CsvCell> cells) {
    set_aside_ = false;
    if (cells.size() < header_.size()) {
      return refuse(HealthKind::short_row,
                    [&] { return std::to_string(cells.size()) + " of " + std::to_string(header_.size()) + " cells"; });
    }
    const bool used = kind_ == TableKind::agent_info  ? read_agent(cells)
                      : kind_ == TableKind::api_trace ? read_mark(cells)
                                                      : read_dispatch(cells);
    if (used && cells.size() > header_.size()) {
      add_here(HealthKind::extra_cells, [&] {
        return std::to_string(cells.size()) + " cells where the header has " + std::to_string(header_.size());
      });
    }
    return used;
  }

  template <class What>
  bool refuse(HealthKind kind, const What& what) {
    set_aside_ = true;
    add_here(kind, what);
    return false;
  }
  bool refuse_cell(std::size_t column, std::span<const CsvCell> cells) {
    return refuse(HealthKind::unreadable_value, [&] {
      constexpr std::size_t kShown = 40;
      return header_[column] + " is \"" + std::string(cells[column].text.substr(0, kShown)) + "\"";
    });
  }

  bool read_dispatch(std::span<const CsvCell> cells) {
    std::array<std::int64_t, kNumNumbers> numbers;
    numbers.fill(kNoNumber);
    for (const DispatchColumns::Place& place : columns_.numbers) {
      const std::string_view text = cells[place.column].text;
      std::int64_t& number = numbers[static_cast<std::size_t>(place.number)];
      const bool may_be_empty = place.number != Number::dispatch;
      if (text.empty() && may_be_empty) continue;
      if (!parse_number(text, number)) return refuse_cell(place.column, cells);
    }
    const auto of = [&](Number number) { return numbers[static_cast<std::size_t>(number)]; };
    const std::string_view agent = unquoted(cells[columns_.agent], scratch_);
    if (agent.empty()) return refuse_cell(columns_.agent, cells);
    const bool has_value = columns_.counter_value != kNoColumn;
    double value = 0;
    std::string_view counter;
    if (has_value) {
      counter = cells[columns_.counter_name].text;
      if (!is_counter_name(counter)) return refuse_cell(columns_.counter_name, cells);
      const std::string_view text = cells[columns_.counter_value].text;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (!text.empty() && (error != std::errc() || stop != text.data() + text.size()))
        return refuse_cell(columns_.counter_value, cells);
    }
    DispatchRow row;
    row.start_ns = of(Number::start);
    row.end_ns = of(Number::end);
    if (columns_.has_times) {
      const bool has_times =
          row.start_ns != kNoNumber && row.end_ns != kNoNumber && row.start_ns != 0 && row.end_ns != 0;
      if (!has_times) {
        row.start_ns = kNoNumber;
        row.end_ns = kNoNumber;
      } else if (row.start_ns < 0 || row.end_ns < 0 || row.start_ns >= kTimeLimit || row.end_ns >= kTimeLimit) {
        return refuse(HealthKind::time_overflow, [&] { return std::string("start or end of a dispatch"); });
      } else if (row.end_ns < row.start_ns) {
        return refuse(HealthKind::negative_duration, [&] {
          return "a dispatch from " + std::to_string(row.start_ns) + " to " + std::to_string(row.end_ns);
        });
      }
    } else {
      row.start_ns = kNoNumber;
      row.end_ns = kNoNumber;
    }
    row.device = builder_->device(agent);
    PassKernel kernel;
    kernel.name = builder_->name(unquoted(cells[columns_.kernel_name], scratch_));
    kernel.kernel_id = of(Number::kernel_id);
    kernel.grid_size = of(Number::grid_size);
    kernel.workgroup_size = of(Number::workgroup_size);
    kernel.grid = {extent_of(of(Number::grid_x)), extent_of(of(Number::grid_y)), extent_of(of(Number::grid_z))};
    kernel.workgroup = {extent_of(of(Number::workgroup_x)), extent_of(of(Number::workgroup_y)),
                        extent_of(of(Number::workgroup_z))};
    kernel.lds_bytes = of(Number::lds);
    kernel.scratch_bytes = of(Number::scratch);
    kernel.num_vgpr = of(Number::vgpr);
    kernel.num_accum_vgpr = of(Number::accum_vgpr);
    kernel.num_sgpr = of(Number::sgpr);
    row.kernel = builder_->kernel(kernel);
    row.dispatch_id = of(Number::dispatch);
    row.correlation = of(Number::correlation);
    row.process = of(Number::process);
    row.thread = of(Number::thread);
    row.queue = of(Number::queue);
    row.stream = of(Number::stream);
    bool is_new = false;
    const std::uint32_t dispatch = builder_->dispatch(row, rows_.offset(), is_new);
    if (is_new && columns_.has_times && row.start_ns == kNoNumber) {
      add_here(HealthKind::missing_dispatch_time,
               [&] { return "dispatch " + (row.dispatch_id == kNoNumber ? "?" : std::to_string(row.dispatch_id)); });
    }
    if (has_value && (cells[columns_.counter_value].text.empty() || !std::isfinite(value))) {
      // The dispatch took place, with this counter: it keeps its position among the others.
      builder_->counter(counter);
      return refuse(HealthKind::missing_value, [&] {
        return std::string(counter) + " is \"" + std::string(cells[columns_.counter_value].text) + "\"";
      });
    }
    if (has_value) {
      builder_->value(dispatch, builder_->counter(counter), value, rows_.offset());
    } else if (!is_new) {
      add_here(HealthKind::repeated_row, [] { return std::string("a dispatch, the same in every column"); });
    }
    return true;
  }

  bool read_mark(std::span<const CsvCell> cells) {
    PassMarkTable& marks = tables_.pass->marks;
    const MarkColumns& columns = mark_columns_;
    if (!cells[columns.domain].text.starts_with("MARKER_")) {
      // The first row tells: tables of calls can be long.
      has_calls_ = num_rows(marks) == 0;
      return refuse_cell(columns.domain, cells);
    }
    std::int64_t start_ns = kNoNumber, end_ns = kNoNumber, process = kNoNumber, thread = kNoNumber;
    for (const auto& [column, number] : {std::pair{columns.start, &start_ns}, std::pair{columns.end, &end_ns},
                                         std::pair{columns.process, &process}, std::pair{columns.thread, &thread}}) {
      if (column != kNoColumn && !parse_number(cells[column].text, *number)) return refuse_cell(column, cells);
    }
    if (start_ns == 0 || end_ns == 0)
      return refuse(HealthKind::zero_timestamp, [] { return std::string("start or end of a mark"); });
    if (start_ns < 0 || end_ns < 0 || start_ns >= kTimeLimit || end_ns >= kTimeLimit)
      return refuse(HealthKind::time_overflow, [] { return std::string("start or end of a mark"); });
    if (end_ns < start_ns) {
      return refuse(HealthKind::negative_duration,
                    [&] { return "a mark from " + std::to_string(start_ns) + " to " + std::to_string(end_ns); });
    }
    marks.name.push_back(builder_->name(unquoted(cells[columns.name], scratch_)));
    marks.process.push_back(process);
    marks.thread.push_back(thread);
    marks.start_ns.push_back(start_ns);
    marks.end_ns.push_back(end_ns);
    marks.offset.push_back(rows_.offset());
    return true;
  }

  bool read_agent(std::span<const CsvCell> cells) {
    AgentFacts facts;
    facts.offset = rows_.offset();
    // Zero is what the writer puts where an agent has none of it; places and numbers may be zero.
    const struct {
      std::string_view name;
      std::int64_t* number;
      bool zero_is_none;
    } numbers[] = {{"Node_Id", &facts.node, false},
                   {"Logical_Node_Id", &facts.visible_index, false},
                   {"Num_Xcc", &facts.num_xcc, true},
                   {"Cu_Count", &facts.num_cu, true},
                   {"Simd_Count", &facts.num_simd, true},
                   {"Wave_Front_Size", &facts.wave_size, true},
                   {"Max_Engine_Clk_Fcompute", &facts.max_clock_mhz, true},
                   {"Domain", &facts.pci_domain, false},
                   {"Location_Id", &facts.pci_location, false}};
    for (std::size_t i = 0; i < header_.size(); i++) {
      for (const auto& [name, number, zero_is_none] : numbers) {
        if (header_[i] != name || *number != kNoNumber) continue;
        if (cells[i].text.empty() && name != "Node_Id") continue;
        if (!parse_number(cells[i].text, *number)) return refuse_cell(i, cells);
        if (zero_is_none && *number == 0) *number = kNoNumber;
      }
      const std::string_view text = unquoted(cells[i], scratch_);
      if (header_[i] == "Agent_Type") facts.is_gpu = text == "GPU";
      if (header_[i] == "Name") facts.architecture = text;
      if (header_[i] == "Product_Name") facts.product = text;
      if (header_[i] == "Vendor_Name") facts.vendor_name = text;
    }
    tables_.pass->agents.push_back(std::move(facts));
    return true;
  }

  void number_agents_by_type() {
    std::vector<AgentFacts*> order;
    for (AgentFacts& agent : tables_.pass->agents) order.push_back(&agent);
    std::stable_sort(order.begin(), order.end(),
                     [](const AgentFacts* a, const AgentFacts* b) { return a->node < b->node; });
    std::int64_t next[2] = {0, 0};
    for (AgentFacts* agent : order) agent->type_index = next[agent->is_gpu ? 1 : 0]++;
  }

  void note_counters() {
    const CounterPass& pass = *tables_.pass;
    std::vector<std::int64_t> num_values(num_rows(pass.dispatches), 0), num_tcc(num_rows(pass.dispatches), 0);
    std::vector<std::uint8_t> is_tcc;
    for (const StringId name : pass.counters) is_tcc.push_back(pass.strings.view(name).starts_with("TCC_") ? 1 : 0);
    for (std::size_t i = 0; i < num_rows(pass.values); i++) {
      num_values[pass.values.dispatch[i]]++;
      num_tcc[pass.values.dispatch[i]] += is_tcc[pass.values.counter[i]];
    }
    const bool drops = drops_instances(kind_, header_);
    for (std::size_t i = 0; i < num_values.size(); i++) {
      const auto note = [&](HealthKind kind, const std::string& what) {
        if (!tables_.health.wants_example(kind)) return add(kind, {}, {});
        add(kind, where(pass.dispatches.offset[i]),
            "dispatch " + std::to_string(pass.dispatches.dispatch_id[i]) + what);
      };
      if (num_values[i] < static_cast<std::int64_t>(pass.counters.size()))
        note(HealthKind::incomplete_counters,
             " has " + std::to_string(num_values[i]) + " of " + std::to_string(pass.counters.size()));
      if (drops && num_tcc[i] > kMaxSafeTccCounters)
        note(HealthKind::instances_dropped, " has " + std::to_string(num_tcc[i]) + " TCC counters");
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
  std::vector<std::string> header_;
  TableKind kind_ = TableKind::other;
  DispatchColumns columns_;
  MarkColumns mark_columns_;
  bool has_calls_ = false;
  TraceTables tables_;
  PassBuilder* builder_ = nullptr;
  std::vector<CsvCell> cells_;
  std::string scratch_;
  std::uint64_t published_ = 0;
  bool set_aside_ = false;
};

}  // namespace

Result<TraceTables> read_table(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  return TableReader(*source, shown, options).read();
}

}  // namespace chopper::rocprof
