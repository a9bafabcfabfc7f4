// SPDX-License-Identifier: Apache-2.0
// `chopper metrics`: the list as a table for people, as JSON and as CSV, and one metric or counter in all detail.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/metrics.h"

namespace chopper {

/// Returns the table; with `of_one_gpu` the counters each metric needs there.
std::string metrics_text(std::span<const MetricInfo> metrics, bool of_one_gpu);

/// Returns everything about a metric, a counter.
std::string explain_text(const MetricInfo& metric);
std::string explain_text(const CounterInfo& counter);

/// Returns rows, one for each metric and way to compute it.
std::string metrics_json(std::span<const MetricInfo> metrics, std::string_view version);
std::string metrics_csv(std::span<const MetricInfo> metrics);

}  // namespace chopper
