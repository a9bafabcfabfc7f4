// SPDX-License-Identifier: Apache-2.0
// Values of rows that may be missing, with the reason.
#include "engine/make_rows.h"

namespace chopper {

Field<std::int64_t> job_field(const std::vector<Job>& jobs, std::size_t job) {
  return jobs.size() < 2 ? Field<std::int64_t>() : Field<std::int64_t>(static_cast<std::int64_t>(job));
}
Field<std::int64_t> rank_field(const InputSummary& input) {
  return input.facts.rank ? Field<std::int64_t>(*input.facts.rank) : Field<std::int64_t>(Reason::rank_unknown);
}
Field<std::int64_t> gpu_field(std::int32_t device) {
  return device == kUnknownDevice ? Field<std::int64_t>(Reason::device_unknown)
                                  : Field<std::int64_t>(std::int64_t{device});
}
Field<ExtentList> extent_field(const Extent& e) {
  return e.known() ? Field<ExtentList>(ExtentList{{e.x, e.y, e.z}}) : Field<ExtentList>(Reason::no_extent);
}
Field<std::int64_t> ordinal_field(std::int32_t ordinal) {
  return ordinal >= 0 ? Field<std::int64_t>(std::int64_t{ordinal})
                      : Field<std::int64_t>(ordinal == kNoIteration ? Reason::no_launch_record : Reason::no_mark);
}
Field<std::int64_t> number_field(std::int64_t number) {
  return number == kNoNumber ? Field<std::int64_t>(Reason::no_mark) : Field<std::int64_t>(number);
}
Field<std::int64_t> layer_field(std::int64_t layer) {
  return layer >= 0 ? Field<std::int64_t>(layer)
                    : Field<std::int64_t>(layer == kOutsideLayers ? Reason::outside_layers : Reason::no_label);
}

Field<double> share_field(std::int64_t part, std::int64_t whole, Reason reason) {
  return whole > 0 ? Field<double>(static_cast<double>(part) / static_cast<double>(whole)) : Field<double>(reason);
}

}  // namespace chopper
