// SPDX-License-Identifier: Apache-2.0
#include "analyze/collectives.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace chopper {
namespace {

// Texts of one device, each kept once.
class Texts {
 public:
  explicit Texts(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t add(const StringTable& strings, StringId id) {
    if (id == kNoString) return 0;
    const std::string_view text = strings.view(id);
    if (text.empty()) return 0;
    const auto [at, inserted] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (inserted) texts_.emplace_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // views into the tables of strings, not into texts_
};

}  // namespace

void list_collectives(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                      GpuSummary& summary) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const CollectiveLabels& said = labels.collectives;
  Texts texts(summary.texts);
  for (std::size_t i = 0; i < said.gpu_row.size(); i++) {
    const std::uint32_t row = said.gpu_row[i];
    if (gpu.device[row] != summary.device) continue;
    const Interval record = interval_of(gpu, row);
    CollectiveRecord c;
    c.start_ns = record.start;
    c.duration_ns = record.end - record.start;
    c.exposed_ns = c.duration_ns - work.compute.overlap(record.start, record.end);
    c.stream = gpu.stream[row];
    c.sequence = said.sequence[i];
    c.bytes = said.bytes[i];
    c.group_size = said.group_size[i];
    c.source = said.source[i];
    c.destination = said.destination[i];
    c.offset = gpu.offset[row];
    c.ordinal = labels.iteration[row];
    c.layer = labels.layer[row];
    c.launch_layer = said.launch_layer[i];
    c.kind = texts.add(labels.operations, labels.operation[row]);
    c.group = texts.add(trace.strings, said.group[i]);
    c.description = texts.add(trace.strings, said.description[i]);
    c.ranks = texts.add(trace.strings, said.ranks[i]);
    c.phase = labels.phase[row];
    summary.collectives.push_back(c);
  }
  std::sort(summary.collectives.begin(), summary.collectives.end(),
            [](const CollectiveRecord& a, const CollectiveRecord& b) {
              return std::tie(a.start_ns, a.offset) < std::tie(b.start_ns, b.offset);
            });
}

}  // namespace chopper
