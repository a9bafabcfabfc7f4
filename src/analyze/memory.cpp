// SPDX-License-Identifier: Apache-2.0
#include "analyze/memory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace chopper {
namespace {

// A total that is not written stays unknown.
void include(MemorySummary& summary, std::int64_t allocated, std::int64_t reserved) {
  const auto raise = [](std::int64_t& highest, std::int64_t value) {
    if (value != kNoNumber && (highest == kNoNumber || value > highest)) highest = value;
  };
  summary.num_events++;
  raise(summary.peak_allocated, allocated);
  raise(summary.peak_reserved, reserved);
  if (allocated != kNoNumber)
    summary.lowest_allocated =
        summary.lowest_allocated == kNoNumber ? allocated : std::min(summary.lowest_allocated, allocated);
}

// Finds the iteration whose mark holds a time, or -1; events mostly come in order of time.
class IterationAt {
 public:
  explicit IterationAt(const std::vector<IterationMarks::Mark>& marks) : marks_(marks) {}

  std::int32_t operator()(std::int64_t time_ns) {
    if (time_ns >= from_ns_ && time_ns < until_ns_) return ordinal_;
    const auto after = std::upper_bound(marks_.begin(), marks_.end(), time_ns,
                                        [](std::int64_t t, const IterationMarks::Mark& m) { return t < m.start_ns; });
    if (after == marks_.begin() || (after == marks_.end() && time_ns >= marks_.back().end_ns)) return -1;
    ordinal_ = static_cast<std::int32_t>(after - marks_.begin()) - 1;
    from_ns_ = std::prev(after)->start_ns;
    until_ns_ = after == marks_.end() ? marks_.back().end_ns : after->start_ns;
    return ordinal_;
  }

 private:
  const std::vector<IterationMarks::Mark>& marks_;
  std::int64_t from_ns_ = 0, until_ns_ = 0;  // of the last one found
  std::int32_t ordinal_ = -1;
};

// Device of gpu work for each device of the allocator, where these are others.
std::map<std::int32_t, std::int32_t> devices_by_order(const TraceTables& trace) {
  std::set<std::int32_t> gpus, allocators;
  if (num_rows(trace.memory) == 0) return {};
  for (const std::int32_t device : trace.gpu_work.device) {
    if (device != kUnknownDevice) gpus.insert(device);
  }
  for (const std::int32_t device : trace.memory.device) {
    if (device != kUnknownDevice) allocators.insert(device);
  }
  std::map<std::int32_t, std::int32_t> devices;
  const bool known = std::includes(gpus.begin(), gpus.end(), allocators.begin(), allocators.end());
  if (known || gpus.size() != allocators.size()) return devices;
  auto gpu = gpus.begin();
  for (const std::int32_t device : allocators) devices.emplace(device, *gpu++);
  return devices;
}

}  // namespace

std::vector<MemorySummary> summarise_memory(const TraceTables& trace, const IterationMarks& iterations) {
  const MemoryEventTable& events = trace.memory;
  using Scope = std::pair<std::int32_t, std::int32_t>;  // device and ordinal
  std::map<Scope, MemorySummary> scopes;
  MemorySummary *whole = nullptr, *part = nullptr;
  Scope last{kUnknownDevice, -1};
  IterationAt iteration_at(iterations.marks);
  const std::map<std::int32_t, std::int32_t> devices = devices_by_order(trace);
  const auto device_of = [&](std::int32_t device) {
    const auto other = devices.find(device);
    return other == devices.end() ? device : other->second;
  };
  for (std::size_t i = 0; i < num_rows(events); i++) {
    const Scope scope{events.device[i], iteration_at(events.time_ns[i])};
    if (whole == nullptr || scope != last) {
      whole = &scopes[{scope.first, -1}];
      part = scope.second < 0 ? nullptr : &scopes[scope];
      last = scope;
    }
    include(*whole, events.allocated_bytes[i], events.reserved_bytes[i]);
    if (part != nullptr) include(*part, events.allocated_bytes[i], events.reserved_bytes[i]);
  }
  std::vector<MemorySummary> summaries;
  for (auto& [key, summary] : scopes) {
    summary.device = device_of(key.first);
    summary.ordinal = key.second;
    if (key.second >= 0) summary.number = iterations.marks[static_cast<std::size_t>(key.second)].number;
    summaries.push_back(summary);
  }
  return summaries;
}

}  // namespace chopper
