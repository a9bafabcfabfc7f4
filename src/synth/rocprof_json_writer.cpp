// SPDX-License-Identifier: Apache-2.0
// Counter passes as rocprofv3 writes JSON (formats.md 2.3): one file for each process. A counter has one record for
// each instance of the hardware, without saying which.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "synth/counter_physics.h"
#include "synth/pass_writer.h"
#include "synth/rocprof_agents.h"

namespace chopper::synth {
namespace {

class RocprofJsonWriter : public PassWriter {
 public:
  explicit RocprofJsonWriter(const PassProcess& process)
      : process_(process),
        job_(process.context.job),
        dies_(die_shares(job_, process.rank)),
        counters_(counter_plan(job_)[static_cast<std::size_t>(process.pass)]) {}

  // What stands before the records is known when the process ends: the execution is run once for it.
  Result<Done> open() {
    CHOPPER_TRY(sink_, create(process_, fmt::format("{}_results.json", process_.pid())));
    PassExecution execution(process_.context, process_.pass, process_.rank);
    PassIteration iteration;
    std::string symbols, marks, mark_records;
    std::int64_t first_ns = 0;
    while (execution.next(iteration)) {
      for (const PassDispatch& d : iteration.dispatches) add_symbol(symbols, d);
      add_mark(marks, mark_records, iteration);
      if (first_ns == 0) first_ns = iteration.mark_start_ns;
    }
    const std::int64_t last_ns = iteration.mark_end_ns;
    constexpr std::int64_t kStartNs = 2'000'000'000, kEndNs = 300'000'000;
    std::string text = fmt::format(
        "{{\"rocprofiler-sdk-tool\":[{{\"metadata\":{{\"node\":{{\"id\":0,\"hash\":0,\"system_name\":\"Linux\","
        "\"hostname\":\"{}\"}},\"pid\":{},\"init_time\":{},\"fini_time\":{},\"command\":[\"python3\",\"train.py\"]}},",
        process_.host(), process_.pid(), first_ns - kStartNs, last_ns + kEndNs);
    text += "\"agents\":[";
    for (const AgentText& agent : agents_of(process_)) text += (agent.node == 0 ? "" : ",") + agent.json;
    text += "]," + counters_text() + ",";
    text += "\"strings\":{\"callback_records\":[],\"buffer_records\":[],\"marker_api\":[" + marks +
            "],\"counters\":{\"dimension_ids\":[]}},\"code_objects\":[],\"kernel_symbols\":[" + symbols +
            "],\"host_functions\":[],\"callback_records\":{\"counter_collection\":[";
    mark_records_ = std::move(mark_records);
    return sink_->write(text);
  }

  Result<Done> write(const PassIteration& iteration) override {
    std::string text;
    for (const PassDispatch& d : iteration.dispatches) {
      add_counters(text, d);
      add_kernel(d);
      is_first_ = false;
    }
    return sink_->write(text);
  }

  Result<Done> finish() override {
    CHOPPER_TRY([[maybe_unused]] const Done written,
                sink_->write("]},\"buffer_records\":{\"kernel_dispatch\":[" + kernels_ +
                             "],\"hip_api\":[],\"hsa_api\":[],\"marker_api\":[" + mark_records_ +
                             "],\"rccl_api\":[],\"memory_copy\":[],\"memory_allocation\":[],\"scratch_memory\":[]},"
                             "\"summary\":[]}]}\n"));
    return sink_->finish();
  }

 private:
  std::string counters_text() const {
    std::string text = "\"counters\":[";
    for (const Counter counter : counters_) {
      fmt::format_to(std::back_inserter(text),
                     "{}{{\"agent_id\":{{\"handle\":{}}},\"id\":{{\"handle\":{}}},\"is_constant\":0,\"is_derived\":0,"
                     "\"name\":\"{}\",\"block\":\"{}\",\"expression\":\"\",\"dimension_ids\":[]}}",
                     text.back() == '[' ? "" : ",", agent_handle(process_.agent()), handle(counter),
                     counter_name(job_, counter), block_name(block_of(counter)));
    }
    return text + "]";
  }
  static std::int64_t handle(Counter counter) { return 100 + static_cast<std::int64_t>(counter); }

  void add_symbol(std::string& text, const PassDispatch& d) {
    const std::int64_t id = kernel_ids_.of(d.name);
    if (id <= last_symbol_) return;
    last_symbol_ = id;
    const Work& work = *d.work;
    fmt::format_to(std::back_inserter(text),
                   "{0}{{\"size\":88,\"kernel_id\":{1},\"code_object_id\":1,\"kernel_name\":\"{2}.kd\","
                   "\"group_segment_size\":{3},\"private_segment_size\":0,\"sgpr_count\":112,\"arch_vgpr_count\":{4},"
                   "\"accum_vgpr_count\":{5},\"formatted_kernel_name\":\"{2}\",\"demangled_kernel_name\":\"{2}.kd\","
                   "\"truncated_kernel_name\":\"{2}.kd\"}}",
                   text.empty() ? "" : ",", id, d.name, local_bytes(work), work.registers, accumulator_registers(work));
  }

  void add_mark(std::string& names, std::string& records, const PassIteration& iteration) const {
    if (!job_.passes.marks) return;
    fmt::format_to(std::back_inserter(names), "{}{{\"key\":{},\"value\":\"ProfilerStep#{}\"}}",
                   names.empty() ? "" : ",", iteration.correlation, iteration.number);
    fmt::format_to(std::back_inserter(records),
                   "{}{{\"size\":64,\"kind\":7,\"operation\":1,\"correlation_id\":{{\"internal\":{},\"external\":0}},"
                   "\"start_timestamp\":{},\"end_timestamp\":{},\"thread_id\":{}}}",
                   records.empty() ? "" : ",", iteration.correlation, iteration.mark_start_ns, iteration.mark_end_ns,
                   process_.pid());
  }

  std::string dispatch_info(const PassDispatch& d) {
    const Work& w = *d.work;
    return fmt::format(
        "\"dispatch_info\":{{\"size\":72,\"agent_id\":{{\"handle\":{}}},\"queue_id\":{{\"handle\":1}},\"kernel_id\":{},"
        "\"dispatch_id\":{},\"private_segment_size\":0,\"group_segment_size\":{},\"workgroup_size\":{{\"x\":{},"
        "\"y\":{},\"z\":{}}},\"grid_size\":{{\"x\":{},\"y\":{},\"z\":{}}}}}",
        agent_handle(process_.agent()), kernel_ids_.of(d.name), d.id, local_bytes(w), w.block[0], w.block[1],
        w.block[2], w.grid[0] * w.block[0], w.grid[1] * w.block[1], w.grid[2] * w.block[2]);
  }

  void add_counters(std::string& text, const PassDispatch& d) {
    fmt::format_to(std::back_inserter(text),
                   "{}{{\"thread_id\":{},\"dispatch_data\":{{\"size\":144,\"correlation_id\":{{\"internal\":{},"
                   "\"external\":0}},\"start_timestamp\":{},\"end_timestamp\":{},{}}},\"records\":[",
                   is_first_ ? "" : ",", process_.thread(*d.work), d.correlation, d.start_ns, d.end_ns,
                   dispatch_info(d));
    bool first = true;
    for (const Counter counter : counters_) {
      count_instances(job_, dies_, *d.work, counter, d.cycles, values_);
      for (const std::int64_t value : values_) {
        fmt::format_to(std::back_inserter(text), "{}{{\"counter_id\":{{\"handle\":{}}},\"value\":{}.0}}",
                       first ? "" : ",", handle(counter), value);
        first = false;
      }
    }
    fmt::format_to(std::back_inserter(text),
                   "],\"arch_vgpr_count\":{},\"accum_vgpr_count\":{},\"sgpr_count\":112,\"lds_block_size_v\":{}}}",
                   d.work->registers, accumulator_registers(*d.work), local_bytes(*d.work));
  }

  void add_kernel(const PassDispatch& d) {
    fmt::format_to(std::back_inserter(kernels_),
                   "{}{{\"size\":184,\"kind\":11,\"operation\":2,\"thread_id\":{},\"correlation_id\":{{\"internal\":{},"
                   "\"external\":0}},\"start_timestamp\":{},\"end_timestamp\":{},{},\"stream_id\":{{\"handle\":{}}}}}",
                   is_first_ ? "" : ",", process_.thread(*d.work), d.correlation, d.start_ns, d.end_ns,
                   dispatch_info(d), static_cast<int>(d.work->stream));
  }

  const PassProcess process_;
  const Job& job_;
  std::vector<double> dies_;
  std::vector<Counter> counters_;
  KernelIds kernel_ids_;
  std::int64_t last_symbol_ = 0;
  std::unique_ptr<ByteSink> sink_;
  std::string kernels_, mark_records_;
  std::vector<std::int64_t> values_;
  bool is_first_ = true;
};

}  // namespace

Result<std::unique_ptr<PassWriter>> make_rocprof_json_writer(const PassProcess& process) {
  auto writer = std::make_unique<RocprofJsonWriter>(process);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<PassWriter>(std::move(writer));
}

}  // namespace chopper::synth
