// SPDX-License-Identifier: Apache-2.0
// The counter passes of a run, and what is true of them: truth_counters.json and true_clock.toml. Works as the writers
// of traces do: it adds up what the traced job did, and runs the passes when the job is complete.
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "synth/clock_sums.h"
#include "synth/pass_settings.h"
#include "synth/pass_writer.h"
#include "synth/run_writer.h"

namespace chopper::synth {
namespace {

// What a task of one pass and rank leaves.
struct PassOutcome {
  Result<Done> done = Done{};
  std::string text;
};

template <class Value>
void add_column(std::string& text, std::string_view name, const std::vector<Value>& values) {
  fmt::format_to(std::back_inserter(text), ",\n \"{}\": [", name);
  for (std::size_t i = 0; i < values.size(); i++)
    fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", values[i]);
  text += "]";
}

// Which kernel of the trace each dispatch is, in order of the dispatch ids.
struct Pairing {
  std::vector<std::int64_t> iteration;
  std::vector<std::int32_t> work, order;
  std::string flaws;
  double cycles = 0, time_ns = 0;

  void add(const PassIteration& run) {
    for (const PassDispatch& d : run.dispatches) {
      iteration.push_back(run.number);
      work.push_back(d.work_index);
      order.push_back(d.order);
      cycles += d.cycles;
      time_ns += static_cast<double>(d.end_ns - d.start_ns);
      if (d.flaw == DispatchFlaw::none) continue;
      fmt::format_to(std::back_inserter(flaws), "{}{{\"dispatch\": {}, \"flaw\": \"{}\"}}", flaws.empty() ? "" : ", ",
                     d.id, to_string(d.flaw));
    }
  }
};

std::string row_text(const PassProcess& process, const PassExecution& execution, const Pairing& pairing,
                     const std::vector<std::string>& files) {
  std::string text = fmt::format(
      "{{\"pass\": {}, \"rank\": {}, \"host\": \"{}\", \"process\": {}, \"agent\": {}, \"num_warmup\": {}, "
      "\"num_iterations\": {}, \"num_dispatches\": {}, \"mean_mhz\": {}",
      process.pass + 1, process.rank, process.host(), process.pid(), process.agent(), execution.num_warmup(),
      execution.num_iterations(), pairing.work.size(), pairing.cycles * 1e3 / pairing.time_ns);
  std::vector<std::string> quoted;
  for (const std::string& each : files) quoted.push_back("\"" + each + "\"");
  add_column(text, "files", quoted);
  add_column(text, "iteration", pairing.iteration);
  add_column(text, "work", pairing.work);
  add_column(text, "order", pairing.order);
  fmt::format_to(std::back_inserter(text), ",\n \"flaws\": [{}],\n \"missing\": [", pairing.flaws);
  bool first = true;
  for (const MissingDispatch& each : execution.missing()) {
    fmt::format_to(std::back_inserter(text), "{}{{\"iteration\": {}, \"work\": {}}}", first ? "" : ", ", each.iteration,
                   each.work_index);
    first = false;
  }
  return text + "]}";
}

Result<Done> run_pass(const PassProcess& process, std::string& text) {
  CHOPPER_TRY(const std::unique_ptr<PassWriter> writer, make_pass_writer(process));
  PassExecution execution(process.context, process.pass, process.rank);
  Pairing pairing;
  PassIteration iteration;
  while (execution.next(iteration)) {
    CHOPPER_TRY([[maybe_unused]] const Done written, writer->write(iteration));
    pairing.add(iteration);
  }
  CHOPPER_TRY([[maybe_unused]] const Done finished, writer->finish());
  text = row_text(process, execution, pairing, writer->files());
  return Done{};
}

class PassesWriter : public RunWriter {
 public:
  explicit PassesWriter(const RunContext& context) : context_(context), job_(context.job) {}

  Result<Done> write(Simulation& simulation, std::int64_t index) override {
    for (std::int64_t rank = 0; rank < job_.world_size; rank++) {
      const IterationTimes& times = simulation.times(rank, index);
      const Program& program = context_.program(rank, index);
      for (std::size_t i = 0; i < times.work.size(); i++) {
        const Work& work = program.work[i];
        if (!work.is_compute()) continue;
        sums_[{rank, context_.number(index), work.phase, work.operation}].add(job_, work, times.work[i]);
      }
    }
    return Done{};
  }

  Result<Done> finish() override {
    const auto passes = static_cast<std::size_t>(num_passes(job_)), ranks = static_cast<std::size_t>(job_.world_size);
    std::vector<PassOutcome> outcomes(passes * ranks);
    std::vector<std::function<void()>> tasks;
    for (std::size_t i = 0; i < outcomes.size(); i++) {
      tasks.push_back([this, &outcome = outcomes[i], i, ranks] {
        const PassProcess process{context_, static_cast<std::int64_t>(i / ranks), static_cast<std::int64_t>(i % ranks)};
        outcome.done = run_pass(process, outcome.text);
      });
    }
    run_tasks(context_.threads, tasks);
    for (const PassOutcome& outcome : outcomes) {
      if (!outcome.done.ok()) return outcome.done;
    }
    CHOPPER_TRY([[maybe_unused]] const Done truth, write_truth(outcomes));
    return write_clock();
  }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }

  Result<Done> write_truth(const std::vector<PassOutcome>& outcomes) {
    const PassSettings& s = job_.passes;
    add("{{\"schema\": 1, \"kind\": \"chopper_counter_truth\",\n\"settings\": {{\"counter_format\": \"{}\", "
        "\"marks\": {}, \"counter_warmup\": {}, \"counter_iterations\": {}, \"counter_clock_range\": {}}},\n",
        to_string(counter_format(job_)), s.marks, s.warmup, s.num_iterations, s.clock_range);
    text_ += "\"runs\": [";
    for (std::size_t i = 0; i < outcomes.size(); i++) add("{}\n{}", i == 0 ? "" : ",", outcomes[i].text);
    text_ += "\n],\n";
    write_operations();
    write_gpus();
    write_sums();
    text_ += "}\n";
    CHOPPER_TRY(const std::unique_ptr<ByteSink> sink, create_plain_file(context_.folder / "truth_counters.json"));
    CHOPPER_TRY([[maybe_unused]] const Done done, sink->write(text_));
    return sink->finish();
  }

  void write_operations() {
    std::map<std::pair<Phase, std::string>, ClockSums> all;
    for (const auto& [key, sums] : sums_) all[{std::get<2>(key), std::get<3>(key)}].add(sums);
    text_ += "\"operations\": [";
    bool first = true;
    for (const auto& [key, sums] : all) {
      add("{}\n{{\"phase\": \"{}\", \"operation\": \"{}\", {}, {}}}", first ? "" : ",", to_string(key.first),
          key.second, sums_text(sums), factors_text(job_, sums));
      first = false;
    }
    text_ += "\n],\n";
  }

  void write_gpus() {
    std::map<std::int64_t, ClockSums> gpus;
    for (const auto& [key, sums] : sums_) gpus[std::get<0>(key)].add(sums);
    text_ += "\"gpus\": [";
    for (const auto& [rank, sums] : gpus) {
      add("{}\n{{\"rank\": {}, {}}}", rank == 0 ? "" : ",", rank, factors_text(job_, sums));
    }
    text_ += "\n],\n";
  }

  void write_sums() {
    text_ += "\"sums\": [";
    bool first = true;
    for (const auto& [key, sums] : sums_) {
      add("{}\n{{\"rank\": {}, \"iteration\": {}, \"phase\": \"{}\", \"operation\": \"{}\", {}}}", first ? "" : ",",
          std::get<0>(key), std::get<1>(key), to_string(std::get<2>(key)), std::get<3>(key), sums_text(sums));
      first = false;
    }
    text_ += "\n]\n";
  }

  // chopper.toml with the one clock that stands for all gpus and kernels, for --config.
  Result<Done> write_clock() const {
    ClockSums all;
    for (const auto& [key, sums] : sums_) all.add(sums);
    const std::string text =
        facts_text(context_) +
        fmt::format("\n[clock]\nf_eff_mhz = {:.3f}  # true: all gpus and computing kernels together\n",
                    all.effective_mhz(job_));
    CHOPPER_TRY(const std::unique_ptr<ByteSink> sink, create_plain_file(context_.folder / "true_clock.toml"));
    CHOPPER_TRY([[maybe_unused]] const Done done, sink->write(text));
    return sink->finish();
  }

  const RunContext& context_;
  const Job& job_;
  std::map<std::tuple<std::int64_t, std::int64_t, Phase, std::string>, ClockSums> sums_;
  std::string text_;
};

}  // namespace

std::unique_ptr<RunWriter> make_passes_writer(const RunContext& context) {
  return std::make_unique<PassesWriter>(context);
}

}  // namespace chopper::synth
