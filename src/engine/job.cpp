// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <algorithm>
#include <map>
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

// Ranks of one job are profiled at about the same time; clocks of hosts differ by less.
constexpr std::int64_t kApartNs = std::int64_t{3600} * 1'000'000'000;

bool has_unix_times(const InputSummary& input) {
  return input.has_times && input.facts.clock == ClockDomain::unix_time;
}

// Parts of the ranked inputs of one world size that are more than an hour apart. A rank with files on both sides of a
// gap holds them together: they are consecutive windows. Nothing is split when a time is missing.
std::vector<std::vector<std::size_t>> parts_by_time(const std::vector<InputSummary>& inputs,
                                                    std::vector<std::size_t> members) {
  if (!std::all_of(members.begin(), members.end(), [&](std::size_t i) { return has_unix_times(inputs[i]); }))
    return {std::move(members)};
  std::stable_sort(members.begin(), members.end(),
                   [&](std::size_t a, std::size_t b) { return inputs[a].first_ns < inputs[b].first_ns; });
  std::map<std::int64_t, std::size_t> last_of_rank;
  for (std::size_t k = 0; k < members.size(); k++) last_of_rank[*inputs[members[k]].facts.rank] = k;
  std::vector<std::vector<std::size_t>> parts;
  std::size_t reach = 0;  // the last file of any rank seen so far
  std::int64_t latest_ns = 0;
  for (std::size_t k = 0; k < members.size(); k++) {
    const InputSummary& input = inputs[members[k]];
    if (k == 0 || (k > reach && input.first_ns > latest_ns + kApartNs)) parts.emplace_back();
    latest_ns = k == 0 ? input.last_ns : std::max(latest_ns, input.last_ns);
    reach = std::max(reach, last_of_rank[*input.facts.rank]);
    parts.back().push_back(members[k]);
  }
  for (std::vector<std::size_t>& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

// Fills what follows from the inputs of the job.
void set_gpus(const std::vector<InputSummary>& inputs, Job& job) {
  MarkKind best = MarkKind::none;
  for (const std::size_t i : job.inputs) {
    if (!inputs[i].gpus.empty()) best = std::min(best, inputs[i].mark_kind);
  }
  for (const std::size_t i : job.inputs) {
    if (inputs[i].mark_kind != best) continue;
    for (std::size_t g = 0; g < inputs[i].gpus.size(); g++) job.gpus.push_back({i, g});
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
}

}  // namespace

std::vector<std::optional<std::int64_t>> world_sizes_of(const std::vector<InputSummary>& inputs) {
  std::vector<std::optional<std::int64_t>> sizes;
  std::set<std::int64_t> stated;
  for (const InputSummary& input : inputs) {
    const std::optional<std::int64_t>& size = input.facts.world_size;
    sizes.push_back(size && *size >= 1 ? size : std::nullopt);
    if (input.is_trace() && input.facts.rank && sizes.back()) stated.insert(*sizes.back());
  }
  if (stated.size() != 1) return sizes;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].facts.rank) sizes[i] = *stated.begin();
  }
  return sizes;
}

std::vector<Job> find_jobs(const std::vector<InputSummary>& inputs) {
  const auto sizes = world_sizes_of(inputs);
  std::vector<Job> jobs;
  std::map<std::optional<std::int64_t>, std::vector<std::size_t>> ranked;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!inputs[i].is_trace()) continue;
    if (inputs[i].facts.rank) {
      ranked[sizes[i]].push_back(i);
      continue;
    }
    Job& job = jobs.emplace_back();
    job.inputs = {i};
    job.world_size = sizes[i];
  }
  for (auto& [size, members] : ranked) {
    for (std::vector<std::size_t>& part : parts_by_time(inputs, std::move(members))) {
      Job& job = jobs.emplace_back();
      job.inputs = std::move(part);
      job.has_ranks = true;
      job.world_size = size;
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.inputs.front() < b.inputs.front(); });
  for (Job& job : jobs) set_gpus(inputs, job);
  return jobs;
}

std::vector<std::size_t> job_of_inputs(const std::vector<Job>& jobs, std::size_t num_inputs) {
  std::vector<std::size_t> job_of(num_inputs, 0);
  for (std::size_t j = 0; j < jobs.size(); j++) {
    for (const std::size_t i : jobs[j].inputs) job_of[i] = j;
  }
  return job_of;
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
