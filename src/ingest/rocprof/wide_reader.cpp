// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/wide_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "ingest/csv/csv_reader.h"
#include "ingest/rocprof/wide_rows.h"
#include "ingest/source_notes.h"

namespace chopper::rocprof {
namespace {

// Names of Omniperf 1, then those since Omniperf 2.
struct SystemColumn {
  std::string_view name;
  std::int64_t AgentFacts::*number;
};
constexpr SystemColumn kSystemNumbers[] = {
    {"num_xcd", &AgentFacts::num_xcc},        {"numCU", &AgentFacts::num_cu},
    {"cu_per_gpu", &AgentFacts::num_cu},      {"waveSize", &AgentFacts::wave_size},
    {"wave_size", &AgentFacts::wave_size},    {"sclk", &AgentFacts::max_clock_mhz},
    {"max_sclk", &AgentFacts::max_clock_mhz}, {"numSIMD", &AgentFacts::num_simd},
    {"simd_per_cu", &AgentFacts::num_simd},
};

class WideReader {
 public:
  WideReader(ByteSource& source, std::string_view shown, const ReadOptions& options)
      : source_(source), shown_(shown), options_(options), table_(source, options.window_bytes) {}

  Result<TraceTables> read() {
    if (auto error = read_header()) return std::move(*error);
    CounterPass& pass = tables_.pass.emplace();
    pass.file = shown_;
    pass.writer = wide_writer_of(kind_, header_);
    pass.content = kind_ == WideKind::system         ? PassContent::agents
                   : kind_ == WideKind::kernel_times ? PassContent::kernel_times
                                                     : PassContent::counters;
    const auto where = [this](std::uint64_t offset) {
      return std::string(shown_) + " @ byte " + std::to_string(offset);
    };
    WideRows rows(tables_, where);
    if (kind_ != WideKind::system) rows.set_header(header_);
    read_rows(rows);
    if (const Error* error = table_.error()) return *error;
    if (kind_ == WideKind::dispatch_list && tables_.facts.num_records > 0) return refusal_of_dispatch_list(shown_);
    rows.finish();
    // Rows of a long table are of several executions, each with counters of its own.
    if (kind_ == WideKind::counters) note_incomplete_counters(pass, where, tables_.health);
    tables_.facts.vendor = Vendor::amd;
    tables_.facts.text_bytes = table_.text_bytes();
    if (tables_.facts.num_records == 0)
      tables_.health.add(HealthKind::no_rows, std::string(shown_), "the header alone");
    add_source_notes(source_, shown_, tables_.health);
    publish_progress();
    return std::move(tables_);
  }

 private:
  std::optional<Error> read_header() {
    const CsvReader::Next next = table_.next();
    if (const Error* error = table_.error()) return *error;
    if (next == CsvReader::Next::row) {
      for (const CsvCell& cell : table_.cells()) header_.emplace_back(unquoted(cell, scratch_));
    } else {
      header_ = header_in(table_.line());
      for (const CsvCell& cell : table_.cells()) header_.emplace_back(cell.text);
    }
    kind_ = wide_kind_of(header_);
    if (auto error = wide_refusal(kind_, header_, shown_)) return error;
    if (next == CsvReader::Next::row) return std::nullopt;
    return Error{ErrorCode::bad_input, "the header of a table of rocprof is cut or damaged", std::string(shown_),
                 "copy the file again, or record again"};
  }

  template <class What>
  void note(HealthKind kind, const What& what) {
    if (tables_.health.wants_example(kind)) {
      tables_.health.add(kind, std::string(shown_) + " @ byte " + std::to_string(table_.offset()), what());
    } else {
      tables_.health.add(kind, {}, {});
    }
  }

  void read_rows(WideRows& rows) {
    std::uint64_t& num_records = tables_.facts.num_records;
    while (true) {
      switch (table_.next()) {
        case CsvReader::Next::row:
          if (is_header(table_.cells())) {
            note(HealthKind::repeated_header, [] { return std::string("header"); });
            continue;
          }
          num_records++;
          read_row(rows, table_.cells());
          break;
        case CsvReader::Next::unreadable:
          num_records++;
          note(HealthKind::unreadable_row, [] { return std::string("not CSV"); });
          break;
        case CsvReader::Next::cut:
          // A number that is cut is a number too.
          num_records++;
          note(HealthKind::truncated, [] { return std::string("the last row has no line end: taken as cut"); });
          break;
        case CsvReader::Next::end:
        case CsvReader::Next::error:
          return;
      }
      if (kind_ == WideKind::dispatch_list) return;
      if ((num_records & 63) == 0) publish_progress();
    }
  }

  bool is_header(std::span<const CsvCell> cells) const {
    return cells.size() == header_.size() &&
           std::equal(cells.begin(), cells.end(), header_.begin(),
                      [](const CsvCell& cell, const std::string& name) { return cell.text == name; });
  }

  void read_row(WideRows& rows, std::span<const CsvCell> cells) {
    if (kind_ == WideKind::dispatch_list) return;
    if (cells.size() < header_.size()) {
      note(HealthKind::short_row,
           [&] { return std::to_string(cells.size()) + " of " + std::to_string(header_.size()) + " cells"; });
      return;
    }
    const bool used = kind_ == WideKind::system ? read_system(cells) : rows.add(cells, table_.offset());
    if (used && cells.size() > header_.size()) {
      note(HealthKind::extra_cells, [&] {
        return std::to_string(cells.size()) + " cells where the header has " + std::to_string(header_.size());
      });
    }
  }

  // A machine with gpus of one kind. Zero and "" are what the writer puts where it could not find out.
  bool read_system(std::span<const CsvCell> cells) {
    AgentFacts facts;
    facts.is_gpu = true;
    facts.offset = table_.offset();
    for (std::size_t i = 0; i < header_.size(); i++) {
      const std::string_view text = unquoted(cells[i], scratch_);
      for (const auto& [name, number] : kSystemNumbers) {
        if (header_[i] != name || text.empty() || text == "NA") continue;
        const auto value = parse_int64(text);
        if (!value) {
          note(HealthKind::unreadable_value,
               [&] { return header_[i] + " is \"" + std::string(text.substr(0, 40)) + "\""; });
          return false;
        }
        if (*value > 0) facts.*number = *value;
      }
      if (header_[i] == "gpu_arch" || header_[i] == "gpu_soc") facts.architecture = text;
      if (header_[i] == "gpu_model" || header_[i] == "name") facts.product = text;
    }
    // Written for each compute unit.
    if (facts.num_simd > 0 && facts.num_simd < kMaxSimdPerCu && facts.num_cu > 0 && facts.num_cu < kMaxCus)
      facts.num_simd *= facts.num_cu;
    else
      facts.num_simd = kNoNumber;
    tables_.pass->agents.push_back(std::move(facts));
    return true;
  }

  void publish_progress() {
    if (options_.bytes_done == nullptr) return;
    const std::uint64_t now = source_.file_bytes_read();
    options_.bytes_done->fetch_add(now - published_, std::memory_order_relaxed);
    published_ = now;
  }

  // Far beyond any gpu: what is more is damage, and must not overflow.
  static constexpr std::int64_t kMaxSimdPerCu = 1 << 10, kMaxCus = 1 << 20;

  ByteSource& source_;
  std::string_view shown_;
  const ReadOptions& options_;
  CsvReader table_;
  std::vector<std::string> header_;
  WideKind kind_ = WideKind::other;
  TraceTables tables_;
  std::string scratch_;
  std::uint64_t published_ = 0;
};

}  // namespace

Result<TraceTables> read_wide_table(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  return WideReader(*source, shown, options).read();
}

}  // namespace chopper::rocprof
