// SPDX-License-Identifier: Apache-2.0
#include "synth/truth_facts.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "synth/clock_loop.h"
#include "synth/dialect.h"
#include "synth/parameters.h"

namespace chopper::synth {
namespace {

class FactsText {
 public:
  explicit FactsText(const RunContext& context) : context_(context), job_(context.job) {}

  std::string make() {
    write_job();
    write_physics();
    write_gpus();
    write_programs();
    return std::move(text_);
  }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }

  void write_job() {
    const ModelShape& m = job_.model;
    add("\"job\": {{\"preset\": \"{}\", \"seed\": {}, \"model\": \"{}\", \"gpu\": \"{}\", \"sharding\": \"{}\", "
        "\"optimizer\": \"{}\", \"dialect\": \"{}\", "
        "\"start_ns\": {}, \"parameters\": {}, \"data_parallel\": {}, \"first_recorded\": {}",
        job_.preset, job_.seed, job_.model_name, job_.gpu.key, to_string(job_.sharding), to_string(job_.optimizer),
        to_string(job_.dialect), job_.start_ns, m.parameters(), job_.data_parallel(), job_.first_iteration);
    for (const Setting& setting : list_settings()) {
      add(", \"{}\": {}", setting.name, setting.value != nullptr ? job_.*setting.value : m.*setting.dimension);
    }
    for (const Switch& each : list_switches()) add(", \"{}\": {}", each.name, job_.*each.value);
    text_ += ", \"faults\": [";
    for (std::size_t i = 0; i < job_.faults.size(); i++) {
      const Fault& f = job_.faults[i];
      add("{}{{\"name\": \"{}\", \"rank\": {}, \"amount\": {}}}", i == 0 ? "" : ", ", f.name, f.rank, f.amount);
    }
    text_ += "]},\n";
  }

  void write_physics() {
    text_ += "\"physics\": {";
    bool first = true;
    for (const Parameter& p : list_parameters()) {
      add("{}\"{}\": {}", first ? "" : ", ", p.name, job_.physics.*p.value);
      first = false;
    }
    text_ += "},\n";
  }

  void write_gpus() {
    const GpuSpec& g = job_.gpu;
    add("\"gpu_spec\": {{\"key\": \"{}\", \"clock_mhz\": {}, \"memory_clock_mhz\": {}, \"bf16_tflops\": {}, "
        "\"memory_gb_per_s\": {}, \"num_units\": {}}},\n",
        g.key, g.clock_mhz, g.memory_clock_mhz, g.bf16_tflops(), g.memory_gb_per_s, g.num_units);
    text_ += "\"gpus\": [";
    for (std::int64_t rank = 0; rank < job_.world_size; rank++) {
      const std::int64_t local = rank % job_.ranks_per_node;
      add("{}\n{{\"rank\": {}, \"host\": \"node{}\", \"gpu\": {}, \"silicon\": {:.6f}, \"xcd_clock_share\": [",
          rank == 0 ? "" : ",", rank, rank / job_.ranks_per_node, device_number(job_.dialect, local),
          silicon_share(job_, rank));
      for (std::int64_t xcd = 0; xcd < job_.gpu.num_xccs; xcd++)
        add("{}{:.6f}", xcd == 0 ? "" : ", ", xcd_share(job_, rank, xcd));
      text_ += "]}";
    }
    text_ += "\n],\n";
  }

  // The labels and static factors of every piece of work, by program.
  void write_programs() {
    text_ += "\"programs\": [";
    bool first = true;
    for (const bool with_optimizer : {false, true}) {
      const std::vector<Program>& programs =
          with_optimizer ? context_.programs.with_optimizer : context_.programs.plain;
      for (std::size_t stage = 0; stage < programs.size(); stage++) {
        add("{}\n{{\"program\": {}, \"stage\": {}, \"with_optimizer\": {}, \"work\": [", first ? "" : ",",
            program_number(job_, static_cast<std::int64_t>(stage), with_optimizer), stage, with_optimizer);
        first = false;
        write_work_table(programs[stage]);
        text_ += "\n]}";
      }
    }
    text_ += "\n],\n";
  }

  void write_work_table(const Program& program) {
    const Physics& p = job_.physics;
    for (std::size_t i = 0; i < program.work.size(); i++) {
      const Work& w = program.work[i];
      add("{}\n{{\"name\": \"{}\", \"class\": \"{}\", \"phase\": \"{}\", \"layer\": ", i == 0 ? "" : ",", w.name,
          to_string(w.work_class), to_string(w.phase));
      w.layer < 0 ? add("null") : add("{}", w.layer);
      add(", \"operation\": \"{}\", \"stream\": {}, \"core_activity\": {}, \"memory_activity\": {}, \"bound\": \"{}\"",
          w.operation, static_cast<int>(w.stream), w.core_activity, w.memory_activity, to_string(w.bound));
      if (w.comm_copy) text_ += ", \"comm_copy\": true";
      if (w.recompute) text_ += ", \"recompute\": true";
      if (!w.fused_with.empty()) add(", \"fused_with\": \"{}\"", w.fused_with);
      if (is_decomposed(w)) {
        // Cycles of a serialised pass, per die: with the front end, and with cold caches where memory is the bound.
        const double cold = w.bound == Bound::memory ? 1 + p.cold_cache_share : 1;
        const double cycles = w.alone_ns * cold * job_.gpu.clock_mhz * 1e-3 + p.front_end_cycles;
        add(", \"flops\": {}, \"executed_flops\": {}, \"bytes\": {}, \"executed_bytes\": {}, \"theory_ns\": {}, "
            "\"inst\": {}, \"util\": {}, \"rate\": {}, "
            "\"alone_ns\": {}, \"insensitive\": {}, \"pass_cycles\": {:.0f}, \"grid\": [{}, {}, {}], \"block\": [{}, "
            "{}, {}]",
            w.flops, w.executed_flops, w.bytes, w.executed_bytes, w.theory_ns, w.inst, w.util, w.rate, w.alone_ns,
            w.insensitive, cycles, w.grid[0], w.grid[1], w.grid[2], w.block[0], w.block[1], w.block[2]);
      }
      if (w.collective >= 0) {
        const Collective& c = program.collectives[static_cast<std::size_t>(w.collective)];
        add(", \"collective\": \"{}\", \"bytes\": {}, \"elements_in\": {}, \"elements_out\": {}, \"launch_layer\": ",
            c.kind, c.bytes, c.elements_in, c.elements_out);
        c.launch_layer < 0 ? add("null") : add("{}", c.launch_layer);
      }
      text_ += "}";
    }
  }

  const RunContext& context_;
  const Job& job_;
  std::string text_;
};

}  // namespace

std::string truth_facts(const RunContext& context) { return FactsText(context).make(); }

std::int64_t program_number(const Job& job, std::int64_t stage, bool with_optimizer) {
  return stage + (with_optimizer ? job.pipeline_parallel : 0);
}

bool is_decomposed(const Work& work) { return work.bound != Bound::none; }

}  // namespace chopper::synth
