// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/sdk_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/rocprof/json_walk.h"
#include "ingest/rocprof/pass_builder.h"
#include "ingest/rocprof/sdk_records.h"
#include "ingest/rocprof/wide_rows.h"
#include "ingest/source_notes.h"

namespace chopper::rocprof {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;
// Records of instances the writer of ROCm 6.2 has room for, of one dispatch.
constexpr std::size_t kMaxInstancesRocm62 = 512;
constexpr std::string_view kWanted = "give the *_results.json that rocprofv3 --output-format json writes";

// What a process says about the ids its records use.
struct Process {
  std::int64_t pid = kNoNumber;
  std::unordered_map<std::int64_t, std::size_t> agents;  // index into CounterPass::agents by handle
  std::unordered_map<std::int64_t, SdkKernel> kernels;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> counters;  // by agent and id
  std::unordered_map<std::int64_t, std::string> counter_names;            // by id, of any agent
  std::unordered_map<std::int64_t, std::string> texts;
  struct Row {
    std::uint32_t row;
    bool is_listed;  // the list of dispatches has it, not only that of counters
  };
  std::unordered_map<std::int64_t, Row> dispatches;  // by dispatch id
};

class SdkReader {
 public:
  SdkReader(ByteSource& source, std::string_view shown, const ReadOptions& options, std::vector<Process>& known)
      : source_(source),
        shown_(shown),
        options_(options),
        processes_(known),
        walk_(source, options.window_bytes,
              [this](Taken why, std::uint64_t offset, const std::string& what) { lose(why, offset, what); }) {
    CounterPass& pass = tables_.pass.emplace();
    pass.file = shown_;
    pass.content = PassContent::kernel_times;
    builder_.emplace(pass);
  }

  Result<TraceTables> read() {
    if (walk_.next() == '{') walk_.object([this](const std::string& key) { top_key(key); });
    if (const Error* error = walk_.error()) return *error;
    if (!is_sdk_) {
      return Error{ErrorCode::unrecognised, "not of rocprofv3: no JSON object with rocprofiler-sdk-tool",
                   std::string(shown_), std::string(kWanted)};
    }
    if (walk_.is_cut()) note(HealthKind::truncated, walk_.offset(), "the text ends inside a record or list");
    if (walk_.drain() && !walk_.stopped()) note(HealthKind::trailing_bytes, walk_.offset(), "text behind the object");
    if (const Error* error = walk_.error()) return *error;
    finish();
    return std::move(tables_);
  }

  /// Records came before the names they use.
  bool needs_names() const { return needs_names_; }

 private:
  std::string where(std::uint64_t offset) const { return std::string(shown_) + " @ byte " + std::to_string(offset); }
  void note(HealthKind kind, std::uint64_t offset, const std::string& what) {
    if (tables_.health.wants_example(kind)) return tables_.health.add(kind, where(offset), what);
    tables_.health.add(kind, {}, {});
  }
  void lose(Taken why, std::uint64_t offset, const std::string& what) {
    if (last_record_ != offset) count_record(offset);
    note(why == Taken::no_json ? HealthKind::unreadable_event : HealthKind::unreadable_value, offset,
         what + (why == Taken::no_json ? "" : " with a value of another type"));
  }
  void count_record(std::uint64_t offset) {
    tables_.facts.num_records++;
    last_record_ = offset;
  }
  Process& process() { return processes_[process_]; }

  void top_key(const std::string& key) {
    if (key != "rocprofiler-sdk-tool") return walk_.skip();
    is_sdk_ = true;
    const auto one = [this] {
      process_ = next_process_++;
      if (processes_.size() <= process_) processes_.emplace_back();
      process().dispatches.clear();
      knows_kernels_ = false;
      knows_agents_ = false;
      walk_.object([this](const std::string& name) { process_key(name); });
    };
    if (walk_.next() == '[') return walk_.elements(one);
    one();
  }

  void process_key(const std::string& key) {
    if (key == "metadata") {
      walk_.value([this](std::string_view text, std::uint64_t) { return parser_.metadata(text, process().pid); });
    } else if (key == "agents") {
      knows_agents_ = true;
      walk_.list("size", [this](std::string_view text, std::uint64_t offset) { return take_agent(text, offset); });
    } else if (key == "counters") {
      walk_.list("agent_id", [this](std::string_view text, std::uint64_t) { return take_counter(text); });
    } else if (key == "kernel_symbols") {
      knows_kernels_ = true;
      walk_.list("size", [this](std::string_view text, std::uint64_t) { return take_kernel(text); });
    } else if (key == "strings") {
      walk_.object([this](const std::string& name) {
        if (name != "marker_api") return walk_.skip();
        walk_.list("key", [this](std::string_view text, std::uint64_t) { return take_text(text); });
      });
    } else if (key == "callback_records" || key == "buffer_records") {
      needs_names_ = needs_names_ || !knows_kernels_ || !knows_agents_;
      walk_.object([this](const std::string& name) { records_key(name); });
    } else {
      walk_.skip();
    }
    if (walk_.offset() - published_at_ > kPublishBytes) publish_progress();
  }

  void records_key(const std::string& key) {
    const bool counts = key == "counter_collection";
    if (counts || key == "kernel_dispatch") {
      walk_.list(counts ? "dispatch_data" : "size",
                 [&](std::string_view text, std::uint64_t offset) { return take_dispatch(text, offset, counts); });
    } else if (key == "marker_api") {
      walk_.list("size", [this](std::string_view text, std::uint64_t offset) { return take_mark(text, offset); });
    } else {
      walk_.skip();
    }
  }

  Taken take_agent(std::string_view text, std::uint64_t offset) {
    count_record(offset);
    SdkAgent agent;
    const Taken taken = parser_.agent(text, agent);
    if (taken != Taken::used) return taken;
    std::vector<AgentFacts>& agents = tables_.pass->agents;
    // Processes of one machine describe the same agents.
    const auto known = std::find_if(agents.begin(), agents.end(), [&](const AgentFacts& other) {
      return other.node == agent.facts.node && other.architecture == agent.facts.architecture &&
             other.is_gpu == agent.facts.is_gpu && other.pci_location == agent.facts.pci_location;
    });
    process().agents[agent.handle] = static_cast<std::size_t>(known - agents.begin());
    if (known != agents.end()) return taken;
    agent.facts.offset = offset;
    agents.push_back(std::move(agent.facts));
    return taken;
  }

  Taken take_kernel(std::string_view text) {
    SdkKernel kernel;
    const Taken taken = parser_.kernel(text, kernel);
    if (taken == Taken::used) process().kernels[kernel.id] = std::move(kernel);
    return taken;
  }

  Taken take_counter(std::string_view text) {
    SdkCounter counter;
    const Taken taken = parser_.counter(text, counter);
    if (taken != Taken::used) return taken;
    process().counter_names[counter.id] = counter.name;
    process().counters[{counter.agent, counter.id}] = counter.name;
    return taken;
  }

  Taken take_text(std::string_view text) {
    SdkText mark;
    const Taken taken = parser_.text(text, mark);
    if (taken == Taken::used) process().texts[mark.key] = std::move(mark.value);
    return taken;
  }

  Taken take_mark(std::string_view text, std::uint64_t offset) {
    count_record(offset);
    SdkRecord record;
    const Taken taken = parser_.record(text, record);
    if (taken != Taken::used) return taken;
    if (!has_times(record, offset, "mark")) return Taken::used;
    if (record.start_ns == kNoNumber) {
      note(HealthKind::zero_timestamp, offset, "start or end of a mark");
      return Taken::used;
    }
    const auto found = process().texts.find(record.correlation);
    if (found == process().texts.end()) note(HealthKind::missing_field, offset, "a mark without its text");
    PassMarkTable& marks = tables_.pass->marks;
    marks.name.push_back(builder_->name(found == process().texts.end() ? "" : found->second));
    marks.process.push_back(process().pid);
    marks.thread.push_back(record.thread);
    marks.start_ns.push_back(record.start_ns);
    marks.end_ns.push_back(record.end_ns);
    marks.offset.push_back(offset);
    return Taken::used;
  }

  // Returns whether the times of a record can be; times that are not there are kNoNumber afterwards.
  bool has_times(SdkRecord& record, std::uint64_t offset, const char* of) {
    if (record.start_ns == kNoNumber || record.end_ns == kNoNumber || record.start_ns == 0 || record.end_ns == 0) {
      record.start_ns = kNoNumber;
      record.end_ns = kNoNumber;
      return true;
    }
    if (record.start_ns < 0 || record.end_ns < 0 || record.start_ns >= kTimeLimit || record.end_ns >= kTimeLimit) {
      note(HealthKind::time_overflow, offset, std::string("start or end of a ") + of);
      return false;
    }
    if (record.end_ns >= record.start_ns) return true;
    note(HealthKind::negative_duration, offset,
         std::string("a ") + of + " from " + std::to_string(record.start_ns) + " to " + std::to_string(record.end_ns));
    return false;
  }

  Taken take_dispatch(std::string_view text, std::uint64_t offset, bool counts) {
    count_record(offset);
    if (counts) tables_.pass->content = PassContent::counters;
    SdkRecord record;
    const Taken taken = parser_.record(text, record);
    if (taken != Taken::used) return taken;
    if (!record.has_dispatch || record.dispatch == kNoNumber) return Taken::wrong_value;
    if (!has_times(record, offset, "dispatch")) return Taken::used;
    const auto known = process().dispatches.find(record.dispatch);
    if (known != process().dispatches.end()) {
      add_times(known->second, record, offset, counts);
      if (counts) add_values(known->second.row, record, offset);
      return taken;
    }
    bool is_new = false;
    const std::uint32_t row = builder_->dispatch(row_of(record, offset), offset, is_new);
    process().dispatches.emplace(record.dispatch, Process::Row{row, !counts});
    if (counts) add_values(row, record, offset);
    return taken;
  }

  // A dispatch with counters is also in the list of dispatches, which may have the times alone.
  void add_times(Process::Row& known, const SdkRecord& record, std::uint64_t offset, bool counts) {
    PassDispatchTable& table = tables_.pass->dispatches;
    const std::uint32_t row = known.row;
    const bool is_repeated = !counts && known.is_listed;
    known.is_listed = known.is_listed || !counts;
    if (record.stream != kNoNumber) table.stream[row] = record.stream;
    if (record.start_ns == kNoNumber) return;
    if (table.start_ns[row] == kNoNumber) {
      table.start_ns[row] = record.start_ns;
      table.end_ns[row] = record.end_ns;
      table.duration_ns[row] = record.end_ns - record.start_ns;
    } else if (table.start_ns[row] == record.start_ns && table.end_ns[row] == record.end_ns) {
      if (is_repeated) note(HealthKind::repeated_row, offset, "dispatch " + std::to_string(record.dispatch));
    } else {
      note(HealthKind::conflicting_value, offset, "times of dispatch " + std::to_string(record.dispatch));
    }
  }

  DispatchRow row_of(const SdkRecord& record, std::uint64_t offset) {
    Process& process = this->process();
    DispatchRow row;
    PassKernel kernel;
    const auto symbol = process.kernels.find(record.kernel);
    kernel.kernel_id = record.kernel;
    kernel.num_vgpr = record.num_vgpr;
    kernel.num_accum_vgpr = record.num_accum_vgpr;
    kernel.num_sgpr = record.num_sgpr;
    if (symbol != process.kernels.end()) {
      kernel.name = builder_->name(symbol->second.name);
      if (kernel.num_vgpr == kNoNumber) kernel.num_vgpr = symbol->second.num_vgpr;
      if (kernel.num_accum_vgpr == kNoNumber) kernel.num_accum_vgpr = symbol->second.num_accum_vgpr;
      if (kernel.num_sgpr == kNoNumber) kernel.num_sgpr = symbol->second.num_sgpr;
    } else {
      const std::string name = "kernel " + std::to_string(record.kernel);
      kernel.name = builder_->name(name);
      if (unnamed_.emplace(process_, record.kernel).second)
        note(HealthKind::missing_field, offset, name + " has no symbol");
    }
    kernel.grid = record.grid;
    kernel.workgroup = record.workgroup;
    kernel.grid_size = record.num_grid_items;
    kernel.workgroup_size = record.num_work_items;
    kernel.lds_bytes = record.lds_bytes;
    kernel.scratch_bytes = record.scratch_bytes;
    const auto agent = process.agents.find(record.agent);
    const bool is_known = agent != process.agents.end() && agent->second < tables_.pass->agents.size();
    row.device = builder_->device(is_known ? std::to_string(tables_.pass->agents[agent->second].node)
                                           : "handle " + std::to_string(record.agent));
    row.kernel = builder_->kernel(kernel);
    row.dispatch_id = record.dispatch;
    row.correlation = record.correlation;
    row.process = process.pid;
    row.thread = record.thread;
    row.queue = record.queue;
    row.stream = record.stream;
    row.start_ns = record.start_ns;
    row.end_ns = record.end_ns;
    return row;
  }

  // Adds the instances of each counter up, in order of their first.
  void add_values(std::uint32_t row, const SdkRecord& record, std::uint64_t offset) {
    struct Sum {
      std::int64_t counter;
      double sum, maximum;
    };
    std::vector<Sum> sums;
    for (const auto& [counter, value] : record.values) {
      auto found = !sums.empty() && sums.back().counter == counter
                       ? std::prev(sums.end())
                       : std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) { return sum.counter == counter; });
      if (found == sums.end()) found = sums.insert(sums.end(), {counter, 0, -std::numeric_limits<double>::infinity()});
      found->sum += value;
      found->maximum = std::max(found->maximum, value);
    }
    for (const Sum& sum : sums) {
      const std::uint32_t counter = builder_->counter(name_of(record.agent, sum.counter, offset));
      if (!std::isfinite(sum.sum)) {
        note(HealthKind::missing_value, offset, std::string(name_of(record.agent, sum.counter, offset)));
        continue;
      }
      builder_->value(row, counter, sum.sum, offset);
      tables_.pass->values.maximum.back() = sum.maximum;
    }
    // Later releases also write the number of accumulation registers.
    if (record.values.size() == kMaxInstancesRocm62 && record.num_accum_vgpr == kNoNumber) {
      note(HealthKind::instances_dropped, offset,
           "dispatch " + std::to_string(record.dispatch) + " has " + std::to_string(kMaxInstancesRocm62) + " records");
    }
  }

  std::string_view name_of(std::int64_t agent, std::int64_t counter, std::uint64_t offset) {
    const auto of_agent = process().counters.find({agent, counter});
    if (of_agent != process().counters.end()) return of_agent->second;
    const auto any = process().counter_names.find(counter);
    if (any != process().counter_names.end()) return any->second;
    if (unnamed_counters_.emplace(process_, counter).second)
      note(HealthKind::missing_field, offset, "counter " + std::to_string(counter) + " has no name");
    return process().counter_names.emplace(counter, "counter " + std::to_string(counter)).first->second;
  }

  void finish() {
    CounterPass& pass = *tables_.pass;
    TraceFacts& facts = tables_.facts;
    builder_->finish(tables_.health, [this](std::uint64_t offset) { return where(offset); });
    for (PassDevice& device : pass.devices) {
      if (device.form == AgentForm::node) device.text = "node " + device.text;
    }
    number_agents_by_type();
    for (std::size_t i = 0; i < num_rows(pass.dispatches); i++) {
      if (pass.dispatches.start_ns[i] != kNoNumber) continue;
      note(HealthKind::missing_dispatch_time, pass.dispatches.offset[i],
           "dispatch " + std::to_string(pass.dispatches.dispatch_id[i]));
    }
    if (pass.content == PassContent::counters)
      note_incomplete_counters(
          pass, [this](std::uint64_t offset) { return where(offset); }, tables_.health);
    if (num_rows(pass.dispatches) == 0) {
      pass.content = num_rows(pass.marks) > 0 ? PassContent::marks : PassContent::agents;
      if (pass.content == PassContent::agents)
        tables_.health.add(HealthKind::no_rows, std::string(shown_), "no dispatches and no marks");
    }
    facts.vendor = Vendor::amd;
    facts.text_bytes = walk_.offset();
    add_source_notes(source_, shown_, tables_.health);
    publish_progress();
  }

  void number_agents_by_type() {
    std::vector<AgentFacts*> order;
    for (AgentFacts& agent : tables_.pass->agents) order.push_back(&agent);
    std::stable_sort(order.begin(), order.end(),
                     [](const AgentFacts* a, const AgentFacts* b) { return a->node < b->node; });
    std::int64_t next[2] = {0, 0};
    for (AgentFacts* agent : order) agent->type_index = next[agent->is_gpu ? 1 : 0]++;
  }

  static constexpr std::uint64_t kPublishBytes = std::uint64_t{1} << 20;
  void publish_progress() {
    published_at_ = walk_.offset();
    if (options_.bytes_done == nullptr) return;
    const std::uint64_t now = source_.file_bytes_read();
    options_.bytes_done->fetch_add(now - published_, std::memory_order_relaxed);
    published_ = now;
  }

  ByteSource& source_;
  std::string_view shown_;
  const ReadOptions& options_;
  std::vector<Process>& processes_;
  std::size_t process_ = 0, next_process_ = 0;
  JsonWalk walk_;
  SdkParser parser_;
  TraceTables tables_;
  std::optional<PassBuilder> builder_;
  bool is_sdk_ = false, knows_kernels_ = false, knows_agents_ = false, needs_names_ = false;
  std::set<std::pair<std::size_t, std::int64_t>> unnamed_, unnamed_counters_;
  std::uint64_t last_record_ = UINT64_MAX;
  std::uint64_t published_ = 0, published_at_ = 0;
};

}  // namespace

Result<TraceTables> read_sdk_json(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  std::vector<Process> known;
  {
    CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
    SdkReader reader(*source, shown, options, known);
    Result<TraceTables> tables = reader.read();
    if (!tables.ok() || !reader.needs_names()) return tables;
  }
  // Written again by a tool that sorts keys: records stand before the names they use, which are known now.
  ReadOptions again = options;
  again.bytes_done = nullptr;
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  return SdkReader(*source, shown, again, known).read();
}

}  // namespace chopper::rocprof
