// SPDX-License-Identifier: Apache-2.0
#include "synth/pass_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "synth/clock_loop.h"
#include "synth/counter_physics.h"
#include "synth/random.h"

namespace chopper::synth {
namespace {

// Times of a profiler of kernels count from the boot of the host. Passes are runs of the job at other times.
constexpr std::int64_t kFirstStartNs = 1'550'000'000'000'000;
constexpr std::int64_t kBetweenPassesNs = 1'800'000'000'000;

double silicon_effect(const Job& job, std::int64_t rank) { return 1 - 0.1 * (silicon_share(job, rank) - 1); }

double fault_amount(const Job& job, std::string_view name, std::int64_t rank) {
  double amount = 0;
  for (const Fault& f : job.faults) {
    if (f.name == name && (f.rank < 0 || f.rank == rank)) amount += f.amount;
  }
  return amount;
}

}  // namespace

std::string_view to_string(DispatchFlaw flaw) {
  switch (flaw) {
    case DispatchFlaw::none:
      return "none";
    case DispatchFlaw::extra:
      return "extra";
    case DispatchFlaw::renamed:
      return "renamed";
    case DispatchFlaw::reordered:
      return "reordered";
  }
  return "";
}

PassExecution::PassExecution(const RunContext& context, std::int64_t pass, std::int64_t rank)
    : context_(context), job_(context.job), pass_(pass), rank_(rank) {
  const PassSettings& settings = job_.passes;
  warmup_ = settings.warmup + static_cast<std::int64_t>(flaw_amount("pass-warmup"));
  // The numbers of iterations are those of the trace, and none is negative.
  warmup_ = std::min(warmup_, job_.first_iteration);
  num_iterations_ = settings.num_iterations > 0 ? settings.num_iterations : warmup_ + job_.num_iterations;
  now_ns_ =
      kFirstStartNs + pass * kBetweenPassesNs + static_cast<std::int64_t>(unit(bits(Purpose::process_start, 1)) * 3e9);
  // Kernels that run alone with pauses draw little power and make little heat: the clock is near its highest, in each
  // pass another.
  const std::int64_t last = std::max<std::int64_t>(1, num_passes(job_) - 1);
  const double lower =
      static_cast<double>(settings.clock_range) / 100 * static_cast<double>(pass) / static_cast<double>(last);
  base_mhz_ = job_.gpu.max_clock_mhz * (1 - lower) * 0.995 * silicon_effect(job_, rank) *
              (1 - flaw_amount("pass-clocks") / 100) *
              std::clamp(1 - fault_amount(job_, "straggler", rank) / 100, 0.05, 1.0);
}

double PassExecution::flaw_amount(std::string_view name) const {
  double amount = 0;
  for (const Imperfection& each : job_.imperfections) {
    if (each.name == name && (each.rank < 0 || each.rank == rank_)) amount += each.amount;
  }
  return amount;
}

std::uint64_t PassExecution::bits(Purpose purpose, std::uint64_t what) const {
  return random_bits(job_.seed, purpose,
                     static_cast<std::uint64_t>(rank_) << 16 | static_cast<std::uint64_t>(pass_ + 1),
                     static_cast<std::uint64_t>(done_), what);
}

double PassExecution::clock_mhz(std::uint64_t work) const {
  constexpr std::uint64_t kWholeIteration = 0xffffffffu;
  const double slow = 1 + 0.003 * triangular(bits(Purpose::pass_clock, kWholeIteration));
  const double quick = 1 + 0.001 * triangular(bits(Purpose::pass_clock, work));
  return std::min(base_mhz_ * slow * quick, job_.gpu.max_clock_mhz);
}

// Another kernel for the same work, as a library may choose one: another name in front of the arguments.
std::string_view PassExecution::renamed(std::string_view name) {
  constexpr std::string_view kSpace = "(anonymous namespace)";
  std::size_t arguments = name.find_first_of("<(");
  while (arguments < name.size() && name.substr(arguments).starts_with(kSpace)) {
    arguments = name.find_first_of("<(", arguments + kSpace.size());
  }
  arguments = std::min(arguments, name.size());
  return names_.emplace_back(fmt::format("{}_alternative{}", name.substr(0, arguments), name.substr(arguments)));
}

// Half of the extra dispatches are repetitions of kernels of the program, half are kernels it does not have.
void PassExecution::add_extra(std::uint64_t bits, std::vector<PassDispatch>& dispatches) {
  PassDispatch extra;
  extra.flaw = DispatchFlaw::extra;
  const Work* like = dispatches[bits % dispatches.size()].work;
  if ((bits >> 40) % 2 == 0) {
    extra.work = like;
    extra.name = like->name;
  } else {
    Work& work = extra_work_.emplace_back(*like);
    work.grid = {static_cast<std::int64_t>(1 + bits % 97), 1, 1};
    work.name = fmt::format("void tuning_candidate_kernel<{}>(float*, float const*, int)", (bits >> 20) % 7);
    extra.work = &work;
    extra.name = work.name;
  }
  dispatches.push_back(extra);
}

void PassExecution::list_dispatches(const Program& program, std::vector<PassDispatch>& dispatches) {
  const double drop = flaw_amount("pass-missing") / 100, extra = flaw_amount("pass-extra") / 100,
               rename = flaw_amount("pass-renamed") / 100, swap = flaw_amount("pass-reordered") / 100;
  const auto chosen = [&](std::size_t work, std::uint64_t kind, double share) {
    return share > 0 && unit(bits(Purpose::pass_flaw, static_cast<std::uint64_t>(work) << 3 | kind)) < share;
  };
  std::int32_t order = 0;
  for (std::size_t i = 0; i < program.work.size(); i++) {
    const Work& work = program.work[i];
    if (!work.is_compute()) continue;
    const std::int32_t place = order++;
    if (chosen(i, 0, drop)) {
      missing_.push_back({job_.first_iteration - warmup_ + done_, static_cast<std::int32_t>(i)});
    } else {
      PassDispatch& made = dispatches.emplace_back();
      made.work = &work;
      made.name = work.name;
      made.work_index = static_cast<std::int32_t>(i);
      made.order = place;
      if (chosen(i, 1, rename)) {
        made.name = renamed(work.name);
        made.flaw = DispatchFlaw::renamed;
      }
    }
    if (chosen(i, 2, extra) && !dispatches.empty()) {
      add_extra(bits(Purpose::pass_flaw, static_cast<std::uint64_t>(i) << 3 | 3), dispatches);
    }
  }
  for (std::size_t i = 0; i + 1 < dispatches.size(); i++) {
    PassDispatch &first = dispatches[i], &second = dispatches[i + 1];
    if (first.flaw != DispatchFlaw::none || second.flaw != DispatchFlaw::none) continue;
    if (!chosen(static_cast<std::size_t>(first.work_index), 4, swap)) continue;
    first.flaw = second.flaw = DispatchFlaw::reordered;
    std::swap(first, second);
  }
}

bool PassExecution::next(PassIteration& iteration) {
  if (done_ == num_iterations_) return false;
  const std::int64_t index = job_.warmup_iterations - warmup_ + done_;  // as the simulation counts
  const Program& program = context_.program(rank_, index);
  iteration.number = job_.first_iteration - warmup_ + done_;
  iteration.dispatches.clear();
  list_dispatches(program, iteration.dispatches);
  run(iteration);
  done_++;
  return true;
}

void PassExecution::run(PassIteration& iteration) {
  constexpr std::int64_t kLoadingNs = 300'000, kPrologueNs = 60'000, kEpilogueNs = 8'000;
  const Physics& p = job_.physics;
  // A host that does not wait for the loss is ahead of the gpu: its iteration ends some kernels before the gpu's.
  const bool is_ahead = !job_.reads_loss && iteration_end_ns_ > 0;
  iteration.correlation = next_correlation_++;
  iteration.mark_start_ns = is_ahead ? iteration_end_ns_ : now_ns_ + kLoadingNs;
  now_ns_ = std::max(now_ns_, iteration.mark_start_ns + kPrologueNs);
  for (std::size_t i = 0; i < iteration.dispatches.size(); i++) {
    PassDispatch& d = iteration.dispatches[i];
    const auto key = static_cast<std::uint64_t>(i);
    // The counters are set up and read between kernels.
    now_ns_ += 14'000 + static_cast<std::int64_t>(unit(bits(Purpose::pass_gap, key)) * 12'000);
    d.core_mhz = clock_mhz(key);
    const double variation = 1 + p.kernel_jitter * bell(bits(Purpose::pass_duration, key));
    const double front_end_ns = p.front_end_cycles / d.core_mhz * 1e3;
    const double warm_ns = (serialised_ns(job_, *d.work, {d.core_mhz, 1}) - front_end_ns) * variation;
    const bool is_cold = done_ == 0 && d.work->bound == Bound::memory;
    const double length_ns = warm_ns * (is_cold ? 1 + p.cold_cache_share : 1) + front_end_ns;
    d.id = next_id_++;
    d.correlation = next_correlation_++;
    d.start_ns = now_ns_;
    d.cycles = length_ns * d.core_mhz * 1e-3;
    now_ns_ += std::max<std::int64_t>(1, static_cast<std::int64_t>(length_ns + 0.5));
    d.end_ns = now_ns_;
  }
  constexpr std::size_t kAhead = 4;
  const bool ends_ahead = !job_.reads_loss && iteration.dispatches.size() > kAhead;
  iteration.mark_end_ns =
      ends_ahead ? iteration.dispatches[iteration.dispatches.size() - kAhead].start_ns : now_ns_ + kEpilogueNs;
  iteration_end_ns_ = iteration.mark_end_ns;
  now_ns_ = std::max(now_ns_, iteration.mark_end_ns);
}

}  // namespace chopper::synth
