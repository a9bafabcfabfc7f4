// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/pass_builder.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>

namespace chopper::rocprof {
namespace {

// Any pattern of ids must spread over the upper bits that choose the slot.
std::uint64_t mixed(std::uint64_t hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

PassDevice parse_device(std::string_view text) {
  PassDevice device;
  device.text = text;
  constexpr struct {
    std::string_view prefix;
    AgentForm form;
  } kForms[] = {
      {"", AgentForm::node}, {"Agent ", AgentForm::agent}, {"GPU ", AgentForm::gpu}, {"CPU ", AgentForm::cpu}};
  for (const auto& [prefix, form] : kForms) {
    if (!text.starts_with(prefix)) continue;
    const std::optional<std::int64_t> number = whole_number(text.substr(prefix.size()));
    if (!number) continue;
    device.form = form;
    device.number = *number;
  }
  return device;
}

std::uint32_t PassBuilder::device(std::string_view text) {
  std::vector<PassDevice>& devices = pass_.devices;
  if (last_device_ < devices.size() && devices[last_device_].text == text) return last_device_;
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const PassDevice& device) { return device.text == text; });
  last_device_ = static_cast<std::uint32_t>(found - devices.begin());
  if (found == devices.end()) devices.push_back(parse_device(text));
  return last_device_;
}

StringId PassBuilder::name(std::string_view text) {
  if (last_name_ != kNoString && pass_.strings.view(last_name_) == text) return last_name_;
  last_name_ = pass_.strings.intern(text);
  return last_name_;
}

std::size_t PassBuilder::KernelHash::operator()(const PassKernel& kernel) const {
  std::uint64_t hash = index_of(kernel.name);
  for (const std::int64_t value :
       {kernel.kernel_id, kernel.grid_size, kernel.workgroup_size, std::int64_t{kernel.grid.x},
        std::int64_t{kernel.grid.y}, std::int64_t{kernel.grid.z}, std::int64_t{kernel.workgroup.x}, kernel.lds_bytes})
    hash = mixed(hash, value);
  return static_cast<std::size_t>(hash);
}

std::uint32_t PassBuilder::kernel(const PassKernel& kernel) {
  if (last_kernel_ < pass_.kernels.size() && pass_.kernels[last_kernel_] == kernel) return last_kernel_;
  const auto [found, is_new] = kernels_.try_emplace(kernel, static_cast<std::uint32_t>(pass_.kernels.size()));
  if (is_new) pass_.kernels.push_back(kernel);
  last_kernel_ = found->second;
  return last_kernel_;
}

std::uint32_t PassBuilder::counter(std::string_view name) {
  // The counters of a dispatch come in the same order as those of the one before.
  const std::size_t next = last_counter_ + 1 < counter_names_.size() ? last_counter_ + 1 : 0;
  if (next < counter_names_.size() && counter_names_.view(StringId{static_cast<std::uint32_t>(next)}) == name) {
    last_counter_ = static_cast<std::uint32_t>(next);
    return last_counter_;
  }
  last_counter_ = index_of(counter_names_.intern(name));
  if (last_counter_ == pass_.counters.size()) pass_.counters.push_back(pass_.strings.intern(name));
  return last_counter_;
}

bool PassBuilder::is_same(std::uint32_t row, const DispatchRow& other) const {
  const PassDispatchTable& table = pass_.dispatches;
  return table.dispatch_id[row] == other.dispatch_id && table.kernel[row] == other.kernel &&
         table.device[row] == other.device && table.correlation[row] == other.correlation &&
         table.process[row] == other.process && table.start_ns[row] == other.start_ns &&
         table.end_ns[row] == other.end_ns && table.queue[row] == other.queue && table.stream[row] == other.stream;
}

std::uint64_t PassBuilder::hash_of(const DispatchRow& row) const {
  std::uint64_t hash = mixed(row.device, row.dispatch_id);
  for (const std::int64_t value : {row.process, row.correlation, std::int64_t{row.kernel}, row.start_ns})
    hash = mixed(hash, value);
  return hash;
}

void PassBuilder::grow() {
  const PassDispatchTable& table = pass_.dispatches;
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
  for (std::uint32_t row = 0; row < num_rows(table); row++) {
    DispatchRow key;
    key.device = table.device[row];
    key.kernel = table.kernel[row];
    key.dispatch_id = table.dispatch_id[row];
    key.correlation = table.correlation[row];
    key.process = table.process[row];
    key.start_ns = table.start_ns[row];
    std::size_t at = hash_of(key) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = row + 1;
  }
}

std::uint32_t PassBuilder::dispatch(const DispatchRow& row, std::uint64_t offset, bool& is_new) {
  is_new = false;
  if (last_dispatch_ != UINT32_MAX && is_same(last_dispatch_, row)) return last_dispatch_;
  PassDispatchTable& table = pass_.dispatches;
  if ((num_rows(table) + 1) * 2 > slots_.size()) grow();
  std::size_t at = hash_of(row) & (slots_.size() - 1);
  while (slots_[at] != 0 && !is_same(slots_[at] - 1, row)) at = (at + 1) & (slots_.size() - 1);
  if (slots_[at] != 0) {
    last_dispatch_ = slots_[at] - 1;
    return last_dispatch_;
  }
  is_new = true;
  last_dispatch_ = static_cast<std::uint32_t>(num_rows(table));
  slots_[at] = last_dispatch_ + 1;
  table.device.push_back(row.device);
  table.kernel.push_back(row.kernel);
  table.dispatch_id.push_back(row.dispatch_id);
  table.correlation.push_back(row.correlation);
  table.process.push_back(row.process);
  table.thread.push_back(row.thread);
  table.queue.push_back(row.queue);
  table.stream.push_back(row.stream);
  table.start_ns.push_back(row.start_ns);
  table.end_ns.push_back(row.end_ns);
  const bool has_times = row.start_ns != kNoNumber && row.end_ns != kNoNumber;
  table.duration_ns.push_back(has_times ? row.end_ns - row.start_ns : kNoNumber);
  table.offset.push_back(offset);
  return last_dispatch_;
}

void PassBuilder::value(std::uint32_t dispatch, std::uint32_t counter, double value, std::uint64_t offset) {
  CounterValueTable& values = pass_.values;
  values.dispatch.push_back(dispatch);
  values.counter.push_back(counter);
  values.value.push_back(value);
  values.maximum.push_back(std::numeric_limits<double>::quiet_NaN());
  values.offset.push_back(offset);
}

void PassBuilder::reserve_values(std::size_t more, std::uint64_t done, std::uint64_t size) {
  constexpr std::size_t kEnoughToTell = 1 << 16;  // values; the first rows may be unlike the rest
  constexpr double kMargin = 1.05;                // a table that is a little short would be moved once more
  CounterValueTable& values = pass_.values;
  const std::size_t needed = num_rows(values) + more;
  if (needed <= values.dispatch.capacity() || num_rows(values) < kEnoughToTell || done == 0 || size <= done) return;
  // What is behind may be garbage, or compressed less well.
  const double whole =
      static_cast<double>(needed) * std::min(8.0, kMargin * static_cast<double>(size) / static_cast<double>(done));
  for_each_column(values, [&](auto& column) { column.reserve(static_cast<std::size_t>(whole)); });
}

// Stable: rows of a dispatch stay in the order of the file.
void PassBuilder::group_by_dispatch() {
  CounterValueTable& values = pass_.values;
  if (std::is_sorted(values.dispatch.begin(), values.dispatch.end())) return;
  std::vector<std::size_t> place(num_rows(pass_.dispatches) + 1, 0);
  for (const std::uint32_t dispatch : values.dispatch) place[dispatch + 1]++;
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<std::size_t> to(num_rows(values));
  for (std::size_t i = 0; i < to.size(); i++) to[i] = place[values.dispatch[i]]++;
  for_each_column(values, [&](auto& column) {
    std::remove_reference_t<decltype(column)> sorted(column.size());
    for (std::size_t i = 0; i < column.size(); i++) sorted[to[i]] = column[i];
    column = std::move(sorted);
  });
}

}  // namespace chopper::rocprof
