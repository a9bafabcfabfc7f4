// SPDX-License-Identifier: Apache-2.0
// truth.json: what is true of a simulated run. docs/reference/synth.md describes every key.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "base/byte_sink.h"
#include "base/parallel.h"
#include "synth/clock_loop.h"
#include "synth/counterfactual.h"
#include "synth/dialect.h"
#include "synth/parameters.h"
#include "synth/run_timeline.h"
#include "synth/run_writer.h"
#include "synth/truth_facts.h"

namespace chopper::synth {
namespace {

// Values of one operation, summed over ranks and recorded iterations.
struct OperationSums {
  std::int64_t num_kernels = 0, duration_ns = 0, overlap_ns = 0;
  double theory_ns = 0, with_inst_ns = 0, with_util_ns = 0, alone_ns = 0, alone_peak_ns = 0, at_core_clock_ns = 0,
         at_clocks_ns = 0;
  std::array<std::int64_t, 6> class_ns{};  // by WorkClass

  WorkClass work_class() const {
    return static_cast<WorkClass>(std::max_element(class_ns.begin(), class_ns.end()) - class_ns.begin());
  }
};

// Time alone at the clocks of this execution: D_alone(f, g) of spec 9.
double alone_at(const Job& job, const Work& work, const WorkTime& time, bool with_memory_clock) {
  const auto length = static_cast<double>(std::max<std::int64_t>(1, time.end_ns - time.start_ns));
  const double core = job.gpu.clock_mhz / (time.core_cycles / length);
  const double memory = with_memory_clock && job.gpu.memory_clock_mhz > 0
                            ? job.gpu.memory_clock_mhz / (time.memory_cycles / length)
                            : 1.0;
  return work.alone_ns * time.variation * ((1 - work.insensitive) * core + work.insensitive * memory);
}

class TruthWriter : public RunWriter {
 public:
  TruthWriter(const RunContext& context, const std::vector<FlawLog>& flaws,
              const std::vector<Counterfactual>& counterfactuals)
      : context_(context),
        job_(context.job),
        flaws_(flaws),
        counterfactuals_(counterfactuals),
        placed_(static_cast<std::size_t>(context.job.world_size)) {}

  Result<Done> open() {
    CHOPPER_TRY(sink_, create_plain_file(context_.folder / "truth.json"));
    text_ = "{\"schema\": 1, \"kind\": \"chopper_truth\",\n" + truth_facts(context_);
    text_ += "\"iterations\": [";
    return flush();
  }

  Result<Done> write(Simulation& simulation, std::int64_t index) override {
    const auto size = static_cast<std::size_t>(job_.world_size);
    std::vector<std::string> texts(size);
    std::vector<std::function<void()>> tasks;
    for (std::size_t rank = 0; rank < size; rank++) {
      std::vector<ClockSample> clocks = simulation.take_clocks(static_cast<std::int64_t>(rank));
      tasks.push_back([&, rank, clocks = std::move(clocks)] {
        texts[rank] = iteration_text(static_cast<std::int64_t>(rank),
                                     simulation.times(static_cast<std::int64_t>(rank), index), clocks);
      });
    }
    run_tasks(context_.threads, tasks);
    for (std::size_t rank = 0; rank < size; rank++) {
      const IterationTimes& times = simulation.times(static_cast<std::int64_t>(rank), index);
      keep(rank, times);
      text_ += is_first_row_ ? "\n" : ",\n";
      is_first_row_ = false;
      text_ += texts[rank];
      if (text_.size() > (std::size_t{8} << 20)) {
        CHOPPER_TRY([[maybe_unused]] const Done done, flush());
      }
    }
    return flush();
  }

  Result<Done> finish() override {
    text_ += "\n],\n";
    write_timelines();
    write_operations();
    write_counterfactuals();
    write_flaws();
    text_ += "}\n";
    CHOPPER_TRY([[maybe_unused]] const Done done, flush());
    return sink_->finish();
  }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }
  Result<Done> flush() {
    const std::string text = std::exchange(text_, {});
    return sink_->write(text);
  }

  // One row per rank and iteration ------------------------------------------------------------------------------------

  template <class Value>
  static void column(std::string& text, std::string_view name, std::size_t count, const Value& value) {
    fmt::format_to(std::back_inserter(text), ", \"{}\": [", name);
    for (std::size_t i = 0; i < count; i++) {
      if (i > 0) text += ',';
      value(text, i);
    }
    text += ']';
  }

  bool knows_memory_clock() const { return job_.gpu.memory_clock_mhz > 0; }

  std::string iteration_text(std::int64_t rank, const IterationTimes& times,
                             const std::vector<ClockSample>& clocks) const {
    const Program& program = context_.program(rank, times.index);
    const std::size_t count = times.work.size();
    const auto whole = [](std::string& text, std::int64_t value) {
      fmt::format_to(std::back_inserter(text), "{}", value);
    };
    const auto fraction = [](std::string& text, double value) {
      fmt::format_to(std::back_inserter(text), "{:.6f}", value);
    };
    std::string text = fmt::format(
        "{{\"rank\": {}, \"iteration\": {}, \"program\": {}, \"host_start_ns\": {}, \"host_end_ns\": {}", rank,
        context_.number(times.index), program_number(job_, place_of(job_, rank).stage, program.has_optimizer),
        job_.start_ns + times.start_ns, job_.start_ns + times.end_ns);
    column(text, "start_ns", count,
           [&](std::string& t, std::size_t i) { whole(t, job_.start_ns + times.work[i].start_ns); });
    column(text, "duration_ns", count,
           [&](std::string& t, std::size_t i) { whole(t, times.work[i].end_ns - times.work[i].start_ns); });
    column(text, "launch_ns", count,
           [&](std::string& t, std::size_t i) { whole(t, job_.start_ns + times.work[i].call_ns); });
    const auto mean = [&](std::size_t i, double cycles) {
      return cycles / static_cast<double>(std::max<std::int64_t>(1, times.work[i].end_ns - times.work[i].start_ns));
    };
    column(text, "core_mhz", count, [&](std::string& t, std::size_t i) {
      fmt::format_to(std::back_inserter(t), "{:.3f}", mean(i, times.work[i].core_cycles));
    });
    column(text, "memory_mhz", count, [&](std::string& t, std::size_t i) {
      if (!knows_memory_clock()) return void(t += "null");
      fmt::format_to(std::back_inserter(t), "{:.3f}", mean(i, times.work[i].memory_cycles));
    });
    column(text, "variation", count, [&](std::string& t, std::size_t i) { fraction(t, times.work[i].variation); });
    const auto factor = [&](std::string& t, std::size_t i, int which) {
      const Work& work = program.work[i];
      const WorkTime& time = times.work[i];
      if (!is_decomposed(work)) return void(t += "null");
      const double peak = work.alone_ns * time.variation, core = alone_at(job_, work, time, false),
                   both = alone_at(job_, work, time, true);
      const double actual = static_cast<double>(time.end_ns - time.start_ns);
      fraction(t, which == 0 ? actual / both : which == 1 ? core / peak : both / core);
    };
    column(text, "contention", count, [&](std::string& t, std::size_t i) { factor(t, i, 0); });
    column(text, "freq", count, [&](std::string& t, std::size_t i) { factor(t, i, 1); });
    column(text, "mem_clock", count,
           [&](std::string& t, std::size_t i) { knows_memory_clock() ? factor(t, i, 2) : void(t += "null"); });
    column(text, "all_arrived_ns", count, [&](std::string& t, std::size_t i) {
      program.work[i].collective < 0 ? void(t += "null") : whole(t, job_.start_ns + times.work[i].all_arrived_ns);
    });
    text += ", \"clocks\": {\"time_ns\": [";
    for (std::size_t i = 0; i < clocks.size(); i++)
      fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", job_.start_ns + clocks[i].time_ns);
    text += "]";
    column(text, "core_mhz", clocks.size(),
           [&](std::string& t, std::size_t i) { fmt::format_to(std::back_inserter(t), "{:.1f}", clocks[i].core_mhz); });
    column(text, "memory_mhz", clocks.size(), [&](std::string& t, std::size_t i) {
      fmt::format_to(std::back_inserter(t), "{:.1f}", clocks[i].memory_mhz);
    });
    column(text, "power_w", clocks.size(),
           [&](std::string& t, std::size_t i) { fmt::format_to(std::back_inserter(t), "{:.1f}", clocks[i].power_w); });
    text += "}}";
    return text;
  }

  void keep(std::size_t rank, const IterationTimes& times) {
    const Program& program = context_.program(static_cast<std::int64_t>(rank), times.index);
    for (std::size_t i = 0; i < times.work.size(); i++) {
      const WorkTime& t = times.work[i];
      placed_[rank].push_back({t.start_ns, t.end_ns, t.call_ns, static_cast<std::int64_t>(placed_[rank].size()),
                               static_cast<std::int32_t>(context_.number(times.index)), static_cast<std::uint32_t>(i),
                               program.work[i].work_class, t.prep_cause, t.call_cause});
    }
    for (std::size_t i = 0; i < times.work.size(); i++) {
      const Work& work = program.work[i];
      const WorkTime& t = times.work[i];
      OperationSums& sums = operations_[{work.phase, work.operation}];
      sums.class_ns[static_cast<std::size_t>(work.work_class)] += t.end_ns - t.start_ns;
      sums.num_kernels++;
      sums.duration_ns += t.end_ns - t.start_ns;
      if (!is_decomposed(work)) continue;
      sums.theory_ns += work.theory_ns;
      sums.with_inst_ns += work.theory_ns * work.inst;
      sums.with_util_ns += work.theory_ns * work.inst * work.util;
      sums.alone_ns += work.alone_ns;
      sums.alone_peak_ns += work.alone_ns * t.variation;
      sums.at_core_clock_ns += alone_at(job_, work, t, false);
      sums.at_clocks_ns += alone_at(job_, work, t, true);
    }
  }

  // Communication of any iteration counts: it may reach into the next.
  void add_overlaps() {
    for (std::size_t rank = 0; rank < placed_.size(); rank++) {
      std::vector<Interval> comm;
      for (const Placed& p : placed_[rank]) {
        if (p.work_class == WorkClass::comm) comm.push_back({p.start_ns, p.end_ns});
      }
      const CoverIndex busy_comm(cover_of(std::move(comm)));
      for (const Placed& p : placed_[rank]) {
        if (p.work_class == WorkClass::comm) continue;
        const std::int64_t index = p.iteration - job_.first_iteration + job_.warmup_iterations;
        const Work& work = context_.program(static_cast<std::int64_t>(rank), index).work[p.work];
        operations_[{work.phase, work.operation}].overlap_ns += busy_comm.overlap(p.start_ns, p.end_ns);
      }
    }
  }

  // Sums --------------------------------------------------------------------------------------------------------------

  static std::string lengths_text(const Lengths& l, std::string_view prefix, std::string_view total) {
    return fmt::format(
        "\"{1}\": {2}, \"{0}busy_ns\": {3}, \"{0}compute_ns\": {4}, \"{0}comm_ns\": {5}, \"{0}memcpy_ns\": {6}, "
        "\"{0}overlap_ns\": {7}, \"{0}exposed_comm_ns\": {8}, "
        "\"{0}exposed_memcpy_ns\": {9}, \"{0}idle_ns\": {10}",
        prefix, total, l.total, l.busy, l.compute, l.comm, l.memcpy_time, l.overlap, l.exposed_comm, l.exposed_memcpy,
        l.idle);
  }

  void write_timelines() {
    const auto size = static_cast<std::size_t>(job_.world_size);
    std::vector<RunTimeline> lines(size);
    std::vector<std::function<void()>> tasks;
    for (std::size_t rank = 0; rank < size; rank++) {
      tasks.push_back([&, rank] {
        lines[rank] = timeline_of(placed_[rank], job_.first_iteration, job_.first_iteration + job_.num_iterations - 1);
      });
    }
    run_tasks(context_.threads, tasks);
    text_ += "\"timeline\": [";
    std::vector<std::int64_t> longest;
    for (std::size_t rank = 0; rank < size; rank++) {
      const RunTimeline& line = lines[rank];
      std::int64_t kernels = 0, copies = 0, fills = 0, comm = 0;
      for (const Placed& p : placed_[rank]) count(p.work_class, kernels, copies, fills, comm);
      add("{}\n{{\"rank\": {}, \"num_kernels\": {}, \"num_memcpy\": {}, \"num_memset\": {}, \"num_comm_kernels\": {}, "
          "\"start_ns\": {}, {}, \"prep_ns\": {}, \"call_ns\": {}, "
          "\"windows\": [",
          rank == 0 ? "" : ",", rank, kernels, copies, fills, comm, job_.start_ns + line.start_ns,
          lengths_text(line.trace, "", "span_ns"), line.prep_ns, line.call_ns);
      std::size_t step = 0;
      for (std::size_t i = 0; i < line.windows.size(); i++) {
        const Window& w = line.windows[i];
        add("{}\n {{\"scope\": \"{}\", \"iteration\": ", i == 0 ? "" : ",",
            w.iteration >= 0 ? "iteration"
            : i == 0         ? "head"
                             : "tail");
        w.iteration < 0 ? add("null") : add("{}", w.iteration);
        add(", \"start_ns\": {}, \"last\": {}, {}}}", job_.start_ns + w.start_ns, w.last,
            lengths_text(w.lengths, "window_", "window_ns"));
        if (w.iteration < 0) continue;
        if (longest.size() <= step) longest.push_back(0);
        longest[step] = std::max(longest[step], w.lengths.total);
        step++;
      }
      text_ += "\n], \"gaps\": {";
      write_gaps(line);
      text_ += "}}";
    }
    text_ += "\n],\n";
    write_step(longest);
  }

  void write_gaps(const RunTimeline& line) {
    const auto list = [&](std::string_view name, auto value, bool is_last) {
      add("\"{}\": [", name);
      for (std::size_t i = 0; i < line.gaps.size(); i++) {
        if (i > 0) text_ += ',';
        value(line.gaps[i]);
      }
      text_ += is_last ? "]" : "], ";
    };
    list(
        "iteration", [&](const Gap& g) { add("{}", g.iteration); }, false);
    list(
        "work", [&](const Gap& g) { add("{}", g.work); }, false);
    list(
        "prep_ns", [&](const Gap& g) { add("{}", g.prep_ns); }, false);
    list(
        "call_ns", [&](const Gap& g) { add("{}", g.call_ns); }, false);
    list(
        "prep_cause", [&](const Gap& g) { add("\"{}\"", to_string(g.prep_cause)); }, false);
    list(
        "call_cause", [&](const Gap& g) { add("\"{}\"", to_string(g.call_cause)); }, true);
  }

  void count(WorkClass work_class, std::int64_t& kernels, std::int64_t& copies, std::int64_t& fills,
             std::int64_t& comm) const {
    switch (work_class) {
      case WorkClass::memcpy_work:
        copies++;
        return;
      case WorkClass::memset_work:
        fills_are_kernels(job_.dialect) ? kernels++ : fills++;
        return;
      case WorkClass::comm:
        comm++;
        break;
      default:
        break;
    }
    kernels++;
  }

  // Step time and throughput of spec 3: median over the windows but the last of the maximum over ranks.
  void write_step(std::vector<std::int64_t> longest) {
    if (longest.size() > 1) longest.pop_back();
    std::sort(longest.begin(), longest.end());
    const std::int64_t step = longest.empty() ? 0 : longest[(longest.size() - 1) / 2];
    const std::int64_t tokens = job_.batch * job_.sequence * job_.micro_steps * job_.data_parallel();
    add("\"step\": {{\"step_time_ns\": {}, \"tokens\": {}, \"tokens_per_s\": {:.3f}}},\n", step, tokens,
        static_cast<double>(tokens) * 1e9 / static_cast<double>(std::max<std::int64_t>(1, step)));
  }

  void write_operations() {
    add_overlaps();
    text_ += "\"operations\": [";
    bool first = true;
    for (const auto& [key, s] : operations_) {
      add("{}\n{{\"phase\": \"{}\", \"operation\": \"{}\", \"class\": \"{}\", \"num_kernels\": {}, \"duration_ns\": {}",
          first ? "" : ",", to_string(key.first), key.second, to_string(s.work_class()), s.num_kernels, s.duration_ns);
      first = false;
      if (s.theory_ns > 0) {
        add(", \"overlap_ns\": {}, \"d_thr_ns\": {}, \"inst\": {}, \"util\": {}, \"rate\": {}, \"variation\": {}, "
            "\"contention\": {}, "
            "\"freq\": {}",
            s.overlap_ns, s.theory_ns, s.with_inst_ns / s.theory_ns, s.with_util_ns / s.with_inst_ns,
            s.alone_ns / s.with_util_ns, s.alone_peak_ns / s.alone_ns,
            static_cast<double>(s.duration_ns) / s.at_clocks_ns, s.at_core_clock_ns / s.alone_peak_ns);
        if (knows_memory_clock()) add(", \"mem_clock\": {}", s.at_clocks_ns / s.at_core_clock_ns);
      }
      text_ += "}";
    }
    text_ += "\n],\n";
  }

  void write_counterfactuals() {
    text_ += "\"counterfactual\": [";
    bool first = true;
    for (const Counterfactual& each : counterfactuals_) {
      add("{}\n{{\"name\": \"{}\", \"end_ns\": {}, \"span_ns\": {}, \"step_ns\": [", first ? "" : ",", each.name,
          each.end_ns, each.span_ns);
      first = false;
      for (std::size_t i = 0; i < each.step_ns.size(); i++) add("{}{}", i == 0 ? "" : ", ", each.step_ns[i]);
      text_ += "], \"operations\": [";
      bool first_row = true;
      for (const auto& [key, duration] : each.operations) {
        add("{}{{\"phase\": \"{}\", \"operation\": \"{}\", \"duration_ns\": {}}}", first_row ? "" : ", ",
            to_string(key.first), key.second, duration);
        first_row = false;
      }
      text_ += "]}";
    }
    text_ += "\n],\n";
  }

  void write_flaws() {
    text_ += "\"imperfections\": [";
    bool first = true;
    for (std::size_t rank = 0; rank < flaws_.size(); rank++) {
      for (const FlawRecord& flaw : flaws_[rank]) {
        add("{}\n{{\"rank\": {}, \"name\": \"{}\", \"iteration\": {}, \"work\": {}, \"amount\": {}}}", first ? "" : ",",
            rank, flaw.name, flaw.iteration, flaw.work, flaw.amount);
        first = false;
      }
    }
    text_ += "\n]\n";
  }

  const RunContext& context_;
  const Job& job_;
  const std::vector<FlawLog>& flaws_;
  const std::vector<Counterfactual>& counterfactuals_;
  std::vector<std::vector<Placed>> placed_;
  std::map<std::pair<Phase, std::string>, OperationSums> operations_;
  std::unique_ptr<ByteSink> sink_;
  std::string text_;
  bool is_first_row_ = true;
};

}  // namespace

Result<std::unique_ptr<RunWriter>> make_truth_writer(const RunContext& context, const std::vector<FlawLog>& flaws,
                                                     const std::vector<Counterfactual>& counterfactuals) {
  auto writer = std::make_unique<TruthWriter>(context, flaws, counterfactuals);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<RunWriter>(std::move(writer));
}

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    case Phase::other:
      return "other";
  }
  return "";
}

const char* to_string(WorkClass work_class) {
  switch (work_class) {
    case WorkClass::gemm:
      return "gemm";
    case WorkClass::attention:
      return "attention";
    case WorkClass::vector:
      return "vector";
    case WorkClass::comm:
      return "comm";
    case WorkClass::memcpy_work:
      return "memcpy";
    case WorkClass::memset_work:
      return "memset";
  }
  return "";
}

const char* to_string(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "compute";
    case Bound::memory:
      return "memory";
    case Bound::none:
      return "none";
  }
  return "";
}

}  // namespace chopper::synth
