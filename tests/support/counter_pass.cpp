// SPDX-License-Identifier: Apache-2.0
#include "support/counter_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace chopper::test {
namespace {

constexpr std::uint32_t kNumNames = 60, kNumShapes = 25;
// Dispatches between two disturbances of which one takes a name the program uses. Nearer ones can look like something
// else in every respect: a dropped kernel, and the same one added beside it.
constexpr std::int64_t kApart = 4;

// What is added to the number of a name to have another one.
constexpr std::uint32_t kRetuned = 1'000'000;

struct Program {
  std::vector<Dispatch> start, iteration, special;
};

Dispatch any_kernel(Random& random) {
  const auto name = static_cast<std::uint32_t>(random.below(kNumNames));
  // Kernels of a name come in few shapes.
  const auto grid = static_cast<std::uint32_t>((name * 7 + random.below(3)) % kNumShapes);
  return {name, grid, name % 5};
}

std::vector<Dispatch> any_kernels(Random& random, std::size_t number) {
  std::vector<Dispatch> kernels;
  for (std::size_t i = 0; i < number; i++) {
    // Elementwise kernels often run twice in a row.
    if (!kernels.empty() && random.chance(25))
      kernels.push_back(kernels.back());
    else
      kernels.push_back(any_kernel(random));
  }
  return kernels;
}

Program make_program(const PassOptions& options, Random& random) {
  Program program;
  program.start = any_kernels(random, 150);
  const auto append = [&](const std::vector<Dispatch>& kernels) {
    program.iteration.insert(program.iteration.end(), kernels.begin(), kernels.end());
  };
  const std::vector<Dispatch> forward = any_kernels(random, options.kernels_per_layer);
  const std::vector<Dispatch> backward = any_kernels(random, options.kernels_per_layer * 2);
  append(any_kernels(random, 5));
  for (std::size_t layer = 0; layer < options.num_layers; layer++) append(forward);
  append(any_kernels(random, 8));
  for (std::size_t layer = 0; layer < options.num_layers; layer++) append(backward);
  append(any_kernels(random, 3));
  program.special = any_kernels(random, 100);
  return program;
}

void append(TracedRun& run, const std::vector<Dispatch>& kernels, std::int64_t iteration, std::int64_t place) {
  for (const Dispatch& dispatch : kernels) run.placed.push_back({dispatch, iteration, place++});
}

void append_iterations(TracedRun& run, const Program& program, const PassOptions& options, std::int64_t first,
                       std::size_t number) {
  for (std::size_t k = 0; k < number; k++) {
    const std::int64_t iteration = first + static_cast<std::int64_t>(k);
    append(run, program.iteration, iteration, 0);
    if (iteration == static_cast<std::int64_t>(options.special_iteration))
      append(run, program.special, iteration, static_cast<std::int64_t>(program.iteration.size()));
  }
}

using Places = std::set<std::pair<std::int64_t, std::int64_t>>;

// Disturbs `run` and returns where; leaves the places of `spared` and those beside them alone.
Places disturb(TracedRun& run, Random& random, std::size_t dropped, std::size_t added, std::size_t renamed,
               std::uint32_t num_retuned, const Places& spared) {
  const auto is_spared = [&](const Placed& placed) {
    const auto near = spared.lower_bound({placed.iteration, placed.place - kApart});
    return near != spared.end() && near->first == placed.iteration && near->second <= placed.place + kApart;
  };
  std::vector<std::size_t> dice;
  for (const Placed& placed : run.placed) dice.push_back(is_spared(placed) ? 100 : random.below(100));
  const auto is_disturbed = [&](std::size_t i) { return i < dice.size() && dice[i] < dropped + added + renamed; };
  Places places;
  std::vector<Placed> result;
  std::uint32_t next_name = kNumNames;
  for (std::size_t i = 0; i < run.placed.size(); i++) {
    const Placed& placed = run.placed[i];
    if (is_disturbed(i)) places.insert({placed.iteration, placed.place});
    bool apart = true;
    for (std::size_t k = 1; k <= std::size_t{kApart}; k++)
      apart = apart && !is_disturbed(i + k) && (k > i || !is_disturbed(i - k));
    if (dice[i] < dropped) continue;
    result.push_back(placed);
    if (dice[i] < dropped + added) {
      Dispatch extra = any_kernel(random);
      if (extra.name < num_retuned) extra.name += kRetuned;
      if (!apart) extra.name = extra.grid = next_name++;
      result.push_back({extra, kNowhere, kNowhere});
    } else if (is_disturbed(i)) {
      // The library chose another kernel: mostly one that was not there before.
      Dispatch& dispatch = result.back().dispatch;
      dispatch.name = apart && random.chance(4) ? (dispatch.name + 1) % kNumNames : next_name++;
    }
  }
  run.placed = std::move(result);
  return places;
}

void finish(TracedRun& run) {
  for (const Placed& placed : run.placed) {
    const bool is_new = placed.iteration >= 0 && (run.marks.empty() || run.marks.back().number < placed.iteration);
    if (is_new) run.marks.push_back({placed.iteration, run.dispatches.size()});
    run.dispatches.push_back(placed.dispatch);
  }
}

}  // namespace

TraceAndPass make_trace_and_pass(const PassOptions& options, Random& random) {
  const Program program = make_program(options, random);
  TraceAndPass runs;
  // What lies before iteration 0 has negative numbers, and no marks.
  if (options.start_of_program) append(runs.trace, program.start, -1'000'000, 0);
  append_iterations(runs.trace, program, options, static_cast<std::int64_t>(options.trace_first),
                    options.trace_iterations);
  if (options.start_of_program) append(runs.pass, program.start, -1'000'000, 0);
  append_iterations(runs.pass, program, options, -static_cast<std::int64_t>(options.pass_warmup), options.pass_warmup);
  append_iterations(runs.pass, program, options, static_cast<std::int64_t>(options.pass_first),
                    options.pass_iterations);
  for (Placed& placed : runs.pass.placed) {
    if (placed.dispatch.name < options.num_retuned) placed.dispatch.name += kRetuned;
  }
  const auto middle = runs.trace.placed.begin() + std::ssize(runs.trace.placed) / 2;
  runs.trace.placed.erase(middle, middle + static_cast<std::ptrdiff_t>(options.lost_in_trace));
  const Places places = disturb(runs.pass, random, options.dropped_percent, options.added_percent,
                                options.renamed_percent, options.num_retuned, {});
  if (options.trace_loses) disturb(runs.trace, random, 1, 0, 0, 0, places);
  finish(runs.trace);
  finish(runs.pass);
  return runs;
}

Judgement judge(const TraceAndPass& runs, const Alignment& alignment) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> pass_of;
  for (std::size_t j = 0; j < runs.pass.placed.size(); j++) {
    const Placed& placed = runs.pass.placed[j];
    if (placed.iteration != kNowhere) pass_of[{placed.iteration, placed.place}] = j;
  }
  Judgement judgement;
  std::int64_t shift = 0;  // by how many iterations the transferred matches hereabouts lie off
  for (std::size_t i = 0; i < runs.trace.placed.size(); i++) {
    const Placed& record = runs.trace.placed[i];
    const Match& match = alignment.matches[i];
    const Placed* other = match.pass == kUnmatched ? nullptr : &runs.pass.placed[match.pass];
    if (match.basis == MatchBasis::transferred) {
      if (other->iteration != kNowhere) shift = other->iteration - record.iteration;
    } else if (match.basis == MatchBasis::unique || match.basis == MatchBasis::marks) {
      shift = 0;
    }
    const auto truth = pass_of.find({record.iteration + shift, record.place});
    const bool possible = truth != pass_of.end() && runs.pass.placed[truth->second].dispatch == record.dispatch;
    if (possible) judgement.num_possible++;
    if (match.pass == kUnmatched) continue;
    const bool is_right = truth != pass_of.end() && truth->second == match.pass;
    if (is_right && possible) judgement.num_right++;
    if (is_right || match.basis == MatchBasis::ambiguous) continue;
    (match.basis == MatchBasis::transferred ? judgement.num_off_place : judgement.num_wrong)++;
    if (judgement.first_wrong.empty())
      judgement.first_wrong = fmt::format("record {} (iteration {}, place {}) with {} (iteration {}, place {})", i,
                                          record.iteration, record.place, match.pass, other->iteration, other->place);
  }
  return judgement;
}

}  // namespace chopper::test
