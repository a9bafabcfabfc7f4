// SPDX-License-Identifier: Apache-2.0
#include "engine/pass_gpus.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace chopper {
namespace {

struct Candidate {
  GpuPlace place;
  std::int32_t device;
  std::vector<GpuPlace> other_windows;
};

// Gpus of the traces that the pass could be of: all, or those of its rank. The files of a rank are windows of one
// process (resolve_ranks refuses others), and a gpu of it is one candidate.
std::vector<Candidate> candidates_of(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs,
                                     const std::optional<std::int64_t>& rank) {
  std::vector<Candidate> found;
  for (const Job& job : jobs) {
    std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> first_window;
    for (const std::size_t i : job.inputs) {
      const std::optional<std::int64_t>& own = inputs[i].facts.rank;
      if (rank && own != rank) continue;
      for (std::size_t g = 0; g < inputs[i].gpus.size(); g++) {
        GpuPlace place;
        place.input = i;
        place.gpu = g;
        const std::int32_t device = inputs[i].gpus[g].device;
        const auto [at, is_first] =
            own ? first_window.try_emplace({*own, device}, found.size()) : std::pair{first_window.end(), true};
        if (is_first) {
          found.push_back({place, device, {}});
        } else {
          found[at->second].other_windows.push_back(place);
        }
      }
    }
  }
  return found;
}

// Place of a device among those of all passes that count alike, by number: 0 is the first gpu.
std::optional<std::int64_t> place_in_order(const std::vector<InputSummary>& inputs, const PassDevice& device,
                                           std::size_t num_gpus) {
  std::set<std::int64_t> numbers;
  for (const InputSummary& input : inputs) {
    if (!input.pass || input.pass->num_values == 0) continue;
    for (const PassDeviceSummary& other : input.pass->devices) {
      if (other.device.form == device.form) numbers.insert(other.device.number);
    }
  }
  if (numbers.size() != num_gpus || device.number == kNoNumber) return std::nullopt;
  return std::distance(numbers.begin(), numbers.find(device.number));
}

// Whether the passes of the run are of several gpus, by index.
bool have_several_gpus(const std::vector<InputSummary>& inputs) {
  std::set<std::int64_t> indices;
  for (const InputSummary& input : inputs) {
    if (!input.pass || input.pass->num_values == 0) continue;
    for (const PassDeviceSummary& device : input.pass->devices) {
      if (const auto index = gpu_index_of(device)) indices.insert(*index);
      if (indices.size() > 1) return true;
    }
  }
  return false;
}

std::string describe(const PassDevice& device) { return device.text.empty() ? "its gpu" : device.text; }

}  // namespace

std::optional<std::int64_t> gpu_index_of(const PassDeviceSummary& device) {
  if (device.facts.type_index != kNoNumber) return device.facts.type_index;
  if (device.device.form == AgentForm::gpu && device.device.number != kNoNumber) return device.device.number;
  return std::nullopt;
}

PassGpu find_pass_gpu(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs, std::size_t pass,
                      std::uint32_t device) {
  const InputSummary& input = inputs[pass];
  const PassDeviceSummary& wanted = input.pass->devices[device];
  std::vector<Candidate> candidates = candidates_of(inputs, jobs, input.facts.rank);
  if (candidates.empty()) {
    return {
        std::nullopt,
        input.facts.rank ? "no trace of rank " + std::to_string(*input.facts.rank) : "there is no trace with gpu work",
        {}};
  }
  const std::size_t num_counted =
      static_cast<std::size_t>(std::count_if(input.pass->devices.begin(), input.pass->devices.end(),
                                             [](const PassDeviceSummary& other) { return other.num_values > 0; }));
  // Files of one rank: its process uses one gpu, whatever number the profiler gives it.
  const std::optional<std::int64_t> own = gpu_index_of(wanted);
  const bool is_other = !input.facts.rank && own && *own != candidates.front().device && have_several_gpus(inputs);
  if (candidates.size() == 1 && num_counted <= 1 && !is_other)
    return {candidates.front().place, "", candidates.front().other_windows};
  if (const std::optional<std::int64_t> index = gpu_index_of(wanted)) {
    std::vector<Candidate> alike;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(alike),
                 [&](const Candidate& c) { return c.device == *index; });
    if (alike.size() == 1) return {alike.front().place, "", alike.front().other_windows};
    if (alike.size() > 1) {
      return {std::nullopt,
              describe(wanted.device) + " could be that of " + std::to_string(alike.size()) +
                  " traces: name the rank of the file, --set-rank " + input.path + "=N",
              {}};
    }
  }
  // Ordinals that are no indices: both sides in order.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.device < b.device; });
  const bool distinct =
      std::adjacent_find(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.device == b.device;
      }) == candidates.end();
  if (distinct) {
    if (const auto place = place_in_order(inputs, wanted.device, candidates.size())) {
      const Candidate& found = candidates[static_cast<std::size_t>(*place)];
      return {found.place, "", found.other_windows};
    }
  }
  return {std::nullopt,
          describe(wanted.device) + " is no gpu of the " + std::to_string(candidates.size()) +
              " in the traces: collect with rocprofv3 -A type-relative, or name the rank of the file, "
              "--set-rank " +
              input.path + "=N",
          {}};
}

}  // namespace chopper
