// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <algorithm>
#include <set>
#include <utility>

namespace chopper {
namespace {

// Adds the numbers of a gpu's marks; false when one has none, or one is there already.
bool add_numbers(const GpuSummary& gpu, std::set<std::int64_t>& numbers) {
  for (const WindowSummary& window : gpu.windows) {
    if (!window.row.ordinal.present()) continue;
    if (!window.row.iteration.present() || !numbers.insert(window.row.iteration.value()).second) return false;
  }
  return true;
}

std::int64_t num_iterations(const GpuSummary& gpu) {
  return std::count_if(gpu.windows.begin(), gpu.windows.end(),
                       [](const WindowSummary& window) { return window.row.ordinal.present(); });
}

}  // namespace

Job find_job(const std::vector<InputSummary>& inputs) {
  Job job;
  const bool ranked =
      std::any_of(inputs.begin(), inputs.end(), [](const InputSummary& i) { return i.facts.rank.has_value(); });
  job.has_separate_jobs = !ranked && inputs.size() > 1;
  if (job.has_separate_jobs) return job;
  MarkKind best = MarkKind::none;
  for (const InputSummary& input : inputs) {
    if ((ranked && !input.facts.rank) || input.gpus.empty()) continue;
    best = std::min(best, input.mark_kind);
  }
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const InputSummary& input = inputs[i];
    if ((ranked && !input.facts.rank) || input.mark_kind != best) continue;
    for (std::size_t g = 0; g < input.gpus.size(); g++) job.gpus.push_back({i, g});
  }
  const auto identity = [&](const GpuPlace& place) {
    const InputSummary& input = inputs[place.input];
    return std::make_pair(input.facts.rank.value_or(0), input.gpus[place.gpu].device);
  };
  std::stable_sort(job.gpus.begin(), job.gpus.end(), [&](const GpuPlace& a, const GpuPlace& b) {
    return std::make_pair(identity(a), inputs[a.input].first_ns) <
           std::make_pair(identity(b), inputs[b.input].first_ns);
  });
  job.has_numbers = true;
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < job.gpus.size(); i++) {
    GpuPlace& place = job.gpus[i];
    if (i > 0 && identity(job.gpus[i - 1]) == identity(place)) {
      const GpuPlace& before = job.gpus[i - 1];
      place.is_first_file = false;
      place.first_ordinal = before.first_ordinal + num_iterations(inputs[before.input].gpus[before.gpu]);
    } else {
      numbers.clear();
    }
    job.has_numbers = job.has_numbers && add_numbers(inputs[place.input].gpus[place.gpu], numbers);
  }
  return job;
}

const Field<std::int64_t>& iteration_number(const GpuSummary& gpu, std::int32_t ordinal) {
  return gpu.windows[static_cast<std::size_t>(ordinal) + 1].row.iteration;
}

std::optional<std::int64_t> iteration_key(const Job& job, const GpuPlace& place, const GpuSummary& gpu,
                                          std::int32_t ordinal) {
  if (ordinal < 0) return std::nullopt;
  return job.has_numbers ? iteration_number(gpu, ordinal).value() : place.first_ordinal + ordinal;
}

}  // namespace chopper
