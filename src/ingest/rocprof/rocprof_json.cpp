// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/rocprof_json.h"

#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/rocprof/json_walk.h"
#include "ingest/rocprof/wide_rows.h"
#include "ingest/source_notes.h"

namespace chopper::rocprof {
namespace {

using simdjson::ondemand::object;
using simdjson::ondemand::value;

// Names of what is no kernel among the work of gpus.
constexpr std::string_view kCopies[] = {"CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice", "CopyHostToHost",
                                        "FillBuffer"};

// The arguments of an event: names and values, which rocprof writes as text, numbers too.
class Arguments {
 public:
  Taken read(std::string_view text) {
    names_.clear();
    texts_.clear();
    simdjson::ondemand::document document;
    object event;
    if (parser_.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document) !=
            simdjson::SUCCESS ||
        document.get_object().get(event) != simdjson::SUCCESS)
      return Taken::no_json;
    for (auto field : event) {
      std::string_view key;
      value content;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(content) != simdjson::SUCCESS)
        return Taken::no_json;
      object arguments;
      if (key == "args" && content.get_object().get(arguments) == simdjson::SUCCESS && !read_arguments(arguments))
        return Taken::no_json;
    }
    return document.at_end() ? Taken::used : Taken::no_json;
  }

  bool is_kernel() const {
    if (has("KernelName") && has("gpu-id")) return true;
    if (!has("Name") || !has("dev-id") || !has("queue-id")) return false;
    const std::string& name = texts_[place("Name")];
    return std::none_of(std::begin(kCopies), std::end(kCopies), [&](auto copy) { return name.starts_with(copy); });
  }

  /// What --hip-trace writes of a kernel, in the words of the other tables: it has no counters, and text that is no
  /// number in other arguments.
  void take_words_of_tables() {
    if (!has("dev-id")) return;
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"Name", "KernelName"}, {"dev-id", "gpu-id"},   {"queue-id", "queue-id"}, {"pid", "pid"},
        {"tid", "tid"},         {"BeginNs", "BeginNs"}, {"EndNs", "EndNs"}};
    std::vector<std::string> names, texts;
    for (const auto& [written, word] : kWords) {
      if (!has(written)) continue;
      names.emplace_back(word);
      texts.push_back(texts_[place(written)]);
    }
    names_ = std::move(names);
    texts_ = std::move(texts);
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  bool has(std::string_view name) const { return place(name) < names_.size(); }

  bool read_arguments(object arguments) {
    for (auto field : arguments) {
      std::string_view key, text;
      value content;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(content) != simdjson::SUCCESS)
        return false;
      names_.emplace_back(key);
      if (content.get_string().get(text) != simdjson::SUCCESS) {
        if (content.raw_json().get(text) != simdjson::SUCCESS) return false;
        while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r'))
          text.remove_suffix(1);
      }
      texts_.emplace_back(text);
    }
    return true;
  }

  simdjson::ondemand::parser parser_;
  std::vector<std::string> names_, texts_;
};

}  // namespace

bool is_rocprof_json(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of(" \n\r\t");
  if (start == std::string_view::npos || head[start] != '{') return false;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (!has("\"traceEvents\"") || !has("\"BeginNs\"")) return false;
  return (has("\"KernelName\"") && has("\"gpu-id\"")) || (has("\"dev-id\"") && has("\"queue-id\""));
}

Result<TraceTables> read_rocprof_json(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  TraceTables tables;
  CounterPass& pass = tables.pass.emplace();
  pass.file = shown;
  pass.writer = "rocprof 1";
  const auto where = [&](std::uint64_t offset) { return std::string(shown) + " @ byte " + std::to_string(offset); };
  JsonWalk walk(*source, options.window_bytes, [&](Taken, std::uint64_t offset, const std::string& what) {
    tables.facts.num_records++;
    tables.health.add(HealthKind::unreadable_event, where(offset), what);
  });
  WideRows rows(tables, where);
  Arguments arguments;
  std::vector<std::string> header;
  std::vector<CsvCell> cells;
  bool has_kernels = false;
  const auto take = [&](std::string_view text, std::uint64_t offset) {
    const Taken taken = arguments.read(text);
    // Calls and markers, where they were traced too, are no part of a pass.
    if (taken != Taken::used || !arguments.is_kernel()) return taken;
    arguments.take_words_of_tables();
    tables.facts.num_records++;
    has_kernels = true;
    if (arguments.names() != header) {
      header = arguments.names();
      rows.set_header(header);
    }
    cells.clear();
    for (const std::string& cell : arguments.texts()) cells.push_back({cell, false});
    rows.add(cells, offset);
    return taken;
  };
  if (walk.next() == '{') {
    walk.object([&](const std::string& key) {
      if (key != "traceEvents") return walk.skip();
      walk.list("ph", take);
    });
  }
  if (const Error* error = walk.error()) return *error;
  if (!has_kernels) {
    return Error{
        ErrorCode::unrecognised,
        "no trace of rocprof 1 with kernels: no event has the arguments KernelName and gpu-id, or Name and dev-id",
        std::string(shown), "give the results.json of rocprof -i counters.txt --timestamp on"};
  }
  if (walk.is_cut())
    tables.health.add(HealthKind::truncated, where(walk.offset()), "the text ends inside an event or list");
  if (walk.drain() && !walk.stopped())
    tables.health.add(HealthKind::trailing_bytes, where(walk.offset()), "text behind the object");
  if (const Error* error = walk.error()) return *error;
  rows.finish();
  pass.content = pass.counters.empty() ? PassContent::kernel_times : PassContent::counters;
  if (pass.content == PassContent::counters) note_incomplete_counters(pass, where, tables.health);
  tables.facts.vendor = Vendor::amd;
  tables.facts.text_bytes = walk.offset();
  add_source_notes(*source, shown, tables.health);
  if (options.bytes_done != nullptr)
    options.bytes_done->fetch_add(source->file_bytes_read(), std::memory_order_relaxed);
  return tables;
}

}  // namespace chopper::rocprof
