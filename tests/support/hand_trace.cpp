// SPDX-License-Identifier: Apache-2.0
#include "support/hand_trace.h"

namespace chopper::test {

IterationMarks::Mark& HandTrace::mark(std::int64_t number) {
  labels.iterations.kind = MarkKind::iteration;
  IterationMarks::Mark& mark = labels.iterations.marks.emplace_back();
  mark.number = number;
  return mark;
}

std::uint32_t HandTrace::add(const HandRecord& record) {
  GpuWorkTable& gpu = trace.gpu_work;
  const auto row = static_cast<std::uint32_t>(num_rows(gpu));
  const bool linked = record.launched != kNoNumber;
  gpu.name.push_back(trace.strings.intern(record.name));
  gpu.category.push_back(record.gpu_class == GpuClass::memcpy   ? GpuCategory::memcpy
                         : record.gpu_class == GpuClass::memset ? GpuCategory::memset
                                                                : GpuCategory::kernel);
  gpu.start_ns.push_back(record.start);
  gpu.duration_ns.push_back(record.end - record.start);
  gpu.device.push_back(record.device);
  gpu.stream.push_back(record.stream < 0 ? row : record.stream);
  gpu.correlation.push_back(row + 1);
  gpu.bytes.push_back(kNoNumber);
  gpu.grid.push_back({});
  gpu.block.push_back({});
  gpu.collective.push_back(kNoRow);
  gpu.offset.push_back(std::uint64_t{row} * 100);
  RowId launch = kNoRow;
  if (linked) {
    LaunchTable& calls = trace.launches;
    launch = RowId{static_cast<std::uint32_t>(num_rows(calls))};
    calls.name.push_back(trace.strings.intern(record.call));
    calls.kind.push_back(CallKind::runtime);
    calls.start_ns.push_back(record.launched);
    calls.duration_ns.push_back(record.call_duration);
    calls.thread.push_back(ThreadId{record.thread});
    calls.correlation.push_back(row + 1);
    calls.offset.push_back(std::uint64_t{row} * 100 + 50);
  }
  const bool is_default = record.iteration == HandRecord::kNoNumber32;
  labels.launch.push_back(launch);
  labels.range.push_back(record.range);
  labels.operation_range.push_back(record.range);
  labels.gpu_class.push_back(record.gpu_class);
  labels.comm_copy.push_back(record.comm_copy ? 1 : 0);
  labels.iteration.push_back(!linked ? kNoIteration : is_default ? 0 : record.iteration);
  labels.phase.push_back(linked ? record.phase : Phase::unlabelled);
  labels.layer.push_back(record.layer);
  labels.operation.push_back(record.operation.empty() ? kNoString : labels.operations.intern(record.operation));
  labels.recompute.push_back(0);
  labels.graph.push_back(0);
  labels.instance.push_back(record.instance < 0 ? row : static_cast<std::uint32_t>(record.instance));
  labels.phase_rule.push_back(LabelRule::none);
  labels.layer_rule.push_back(LabelRule::none);
  labels.operation_rule.push_back(LabelRule::none);
  return row;
}

RowId HandTrace::add_range(std::string_view name, std::int64_t start, std::int64_t end, std::uint32_t thread,
                           std::string_view shapes, std::string_view types) {
  HostRangeTable& ranges = trace.ranges;
  const RowId row{static_cast<std::uint32_t>(num_rows(ranges))};
  const auto text = [&](std::string_view t) { return t.empty() ? kNoString : trace.strings.intern(t); };
  ranges.name.push_back(trace.strings.intern(name));
  ranges.kind.push_back(RangeKind::operation);
  ranges.start_ns.push_back(start);
  ranges.duration_ns.push_back(end - start);
  ranges.thread.push_back(ThreadId{thread});
  ranges.sequence_number.push_back(kNoNumber);
  ranges.forward_thread.push_back(kNoNumber);
  ranges.shapes.push_back(text(shapes));
  ranges.types.push_back(text(types));
  ranges.values.push_back(kNoString);
  ranges.collective.push_back(kNoRow);
  ranges.offset.push_back(0);
  return row;
}

void HandTrace::add_call(std::string_view name, std::int64_t start, std::int64_t end, std::uint32_t thread) {
  LaunchTable& calls = trace.launches;
  calls.name.push_back(trace.strings.intern(name));
  calls.kind.push_back(CallKind::runtime);
  calls.start_ns.push_back(start);
  calls.duration_ns.push_back(end - start);
  calls.thread.push_back(ThreadId{thread});
  calls.correlation.push_back(kNoId);
  calls.offset.push_back(0);
}

}  // namespace chopper::test
