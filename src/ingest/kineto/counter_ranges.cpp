// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/counter_ranges.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ingest/rocprof/pass_builder.h"

namespace chopper {

void FlatMembers::skip_space() {
  const std::size_t end = text_.find_first_not_of(" \n\r\t");
  text_.remove_prefix(std::min(end, text_.size()));
}

// A string at the start of the text, without its quotes.
std::optional<std::string_view> FlatMembers::take_string() {
  if (text_.empty() || text_.front() != '"') return std::nullopt;
  std::size_t end = 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2u : 1u;
  if (end >= text_.size()) return std::nullopt;
  const std::string_view string = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  return string;
}

std::optional<FlatMembers::Member> FlatMembers::next() {
  skip_space();
  if (text_.starts_with(',')) {
    text_.remove_prefix(1);
    skip_space();
  }
  Member member;
  const std::optional<std::string_view> name = take_string();
  if (!name) return std::nullopt;
  member.name = *name;
  skip_space();
  if (!text_.starts_with(':')) return std::nullopt;
  text_.remove_prefix(1);
  skip_space();
  if (text_.starts_with('{') || text_.starts_with('[')) return std::nullopt;
  if (const std::optional<std::string_view> string = take_string()) {
    member.value = *string;
    return member;
  }
  member.value = text_.substr(0, text_.find_first_of(" \n\r\t,}"));
  text_.remove_prefix(member.value.size());
  return member;
}

bool is_metric_name(std::string_view name) { return name.find("__") != std::string_view::npos; }

CounterPass pass_of_ranges(std::span<const CounterRangeList> lists, const StringTable& strings, std::string_view shown,
                           HealthLog& health) {
  CounterPass pass;
  pass.content = PassContent::counters;
  pass.file = shown;
  pass.writer = "CUPTI ranges of Kineto";
  rocprof::PassBuilder builder(pass);
  const auto where = [&](std::uint64_t offset) { return std::string(shown) + " @ byte " + std::to_string(offset); };
  std::int64_t number = 0;
  for (const CounterRangeList& list : lists) {
    std::size_t next = 0;
    for (const CounterRange& range : list.ranges) {
      rocprof::DispatchRow row;
      row.dispatch_id = number++;
      row.device = builder.device(range.device == kUnknownDevice ? "a gpu" : "GPU " + std::to_string(range.device));
      PassKernel kernel;
      kernel.name = builder.name(strings.view(range.name));
      row.kernel = builder.kernel(kernel);
      bool is_new = false;
      const std::uint32_t dispatch = builder.dispatch(row, range.offset, is_new);
      for (std::uint32_t i = 0; i < range.num_counters; i++, next++) {
        const RangeCounter& counter = list.counters[next];
        const std::string_view name = strings.view(counter.name);
        const std::uint32_t index = builder.counter(name);
        if (std::isfinite(counter.value)) {
          builder.value(dispatch, index, counter.value, range.offset);
        } else if (health.wants_example(HealthKind::missing_value)) {
          health.add(HealthKind::missing_value, where(range.offset), std::string(name));
        } else {
          health.add(HealthKind::missing_value, {}, {});
        }
      }
    }
  }
  builder.finish(health, where);
  return pass;
}

}  // namespace chopper
