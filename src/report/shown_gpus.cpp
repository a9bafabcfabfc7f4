// SPDX-License-Identifier: Apache-2.0
#include "report/shown_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/quantity.h"

namespace chopper {
namespace {

// Unknown ranks and gpus come last.
std::int64_t order_of(const Field<std::int64_t>& field) {
  return field.present() ? field.value() : std::numeric_limits<std::int64_t>::max();
}

auto key_of(const TimelineRow& row) { return std::tuple(identity_of(row), row.start_ns, row.input); }

}  // namespace

GpuIdentity identity_of(const TimelineRow& row) {
  return {row.job, order_of(row.rank), row.rank.present() ? 0 : row.input, order_of(row.gpu)};
}

std::string rank_label(const Field<std::int64_t>& rank, std::int64_t input) {
  return rank.present() ? fmt::format("rank {}", rank.value()) : fmt::format("input {}", input);
}

std::string ShownGpus::counted_rows() const { return counted(rows.size(), has_windows() ? "window" : "gpu"); }

ShownGpus shown_gpus(const std::vector<TimelineRow>& timeline) {
  ShownGpus shown;
  for (const TimelineRow& row : timeline) shown.rows.push_back({&row, {}});
  std::stable_sort(shown.rows.begin(), shown.rows.end(),
                   [](const ShownGpu& a, const ShownGpu& b) { return key_of(*a.row) < key_of(*b.row); });
  // In order of jobs.
  const bool several_jobs = !shown.rows.empty() && shown.rows.front().row->job != shown.rows.back().row->job;
  for (std::size_t first = 0; first < shown.rows.size();) {
    std::size_t end = first + 1;
    while (end < shown.rows.size() && is_same_gpu(*shown.rows[first].row, *shown.rows[end].row)) end++;
    for (std::size_t i = first; i < end; i++) {
      const TimelineRow& row = *shown.rows[i].row;
      std::string& label = shown.rows[i].label;
      if (several_jobs) label = fmt::format("job {} ", row.job);
      label += rank_label(row.rank, row.input);
      label += row.gpu.present() ? fmt::format(" gpu {}", row.gpu.value()) : " gpu ?";
      if (end - first > 1) label += fmt::format(" window {}/{}", i - first + 1, end - first);
    }
    shown.num_gpus++;
    first = end;
  }
  return shown;
}

}  // namespace chopper
