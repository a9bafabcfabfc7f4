// SPDX-License-Identifier: Apache-2.0
#include "report/jobs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "report/quantity.h"

namespace chopper {
namespace {

constexpr std::size_t kLabelColumns = 13;  // "evidence     "

// "world sizes 2, 8; 1 trace without a rank": what tells the jobs apart.
std::string differences(const Answer& answer) {
  std::map<std::optional<std::int64_t>, std::size_t> num_of_size;
  std::size_t num_unranked = 0;
  for (const JobFacts& job : answer.jobs) {
    if (job.num_gpus == 0) continue;
    if (job.has_ranks) {
      num_of_size[job.world_size]++;
    } else {
      num_unranked++;
    }
  }
  std::vector<std::string> sizes, parts;
  for (const auto& [size, num] : num_of_size) {
    sizes.push_back(size ? std::to_string(*size) : "unknown");
    if (num > 1) sizes.back() += fmt::format(" at {} times", count_text(num));
  }
  if (!sizes.empty())
    parts.push_back(fmt::format("{} {}", sizes.size() == 1 ? "world size" : "world sizes", fmt::join(sizes, ", ")));
  if (num_unranked > 0) parts.push_back(counted(num_unranked, "trace") + " without a rank");
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Jobs whose gpus the means are over.
std::set<std::int64_t> jobs_of(const TimeBasis& basis) {
  std::set<std::int64_t> jobs;
  for (const GpuTime& gpu : basis.gpus) jobs.insert(gpu.row->job);
  return jobs;
}

}  // namespace

std::size_t num_shown_jobs(const Answer& answer) {
  return static_cast<std::size_t>(
      std::count_if(answer.jobs.begin(), answer.jobs.end(), [](const JobFacts& job) { return job.num_gpus > 0; }));
}

bool has_trace(const Answer& answer) {
  return std::any_of(answer.inputs.begin(), answer.inputs.end(), [](const InputRow& input) { return input.is_trace; });
}

bool is_of_shown_job(const Answer& answer, const InputRow& input) {
  if (!input.is_trace) return false;
  if (!input.job.present()) return true;
  const auto job = static_cast<std::size_t>(input.job.value());
  return job >= answer.jobs.size() || answer.jobs[job].selected;
}

std::string of_jobs(const Answer& answer, const TimeBasis& basis) {
  if (num_shown_jobs(answer) < 2) return "";
  const std::set<std::int64_t> jobs = jobs_of(basis);
  return jobs.size() == 1 ? fmt::format(" of job {}", *jobs.begin()) : " of " + counted(jobs.size(), "job");
}

void add_jobs(Page& page, const Answer& answer, const TimeBasis& basis) {
  const std::size_t num = num_shown_jobs(answer);
  if (num < 2) return;
  page.add("jobs", Style::title);
  page.tab(kLabelColumns);
  const std::set<std::int64_t> jobs = jobs_of(basis);
  const std::string means = jobs.size() > 1 ? std::string("steps, means and losses are not of one job")
                                            : fmt::format("means and losses are of job {} alone", *jobs.begin());
  std::string text =
      fmt::format("{} in this run ({}): {}; report each by itself", counted(num, "job"), differences(answer), means);
  const bool some_unranked = std::any_of(answer.jobs.begin(), answer.jobs.end(),
                                         [](const JobFacts& job) { return job.num_gpus > 0 && !job.has_ranks; });
  if (some_unranked) text += ", or state ranks with --set-rank FILE=N";
  page.add_wrapped(text, kLabelColumns);
  page.end_line();
}

}  // namespace chopper
