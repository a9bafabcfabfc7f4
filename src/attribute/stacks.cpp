// SPDX-License-Identifier: Apache-2.0
#include "attribute/stacks.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "base/parallel.h"

namespace chopper {
namespace {

// A range that is open. What a call inherits from the ranges around it is kept with each of them, so that a call looks
// at the top alone.
struct Open {
  std::uint32_t row;
  std::int64_t end_ns;
  std::size_t range_at, operation_at, copy_at;  // nearest operator or annotation, operator, copy range at or below
  CallStack inherited;
};
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Sweeps of different threads may run at the same time: each writes what is of its thread alone.
class Sweep {
 public:
  Sweep(const TraceTables& trace, const RangeOrder& order, const ForwardPartners& partners, RangeNames& names,
        Stacks& stacks)
      : trace_(trace), ranges_(trace.ranges), order_(order), partners_(partners), names_(names), stacks_(stacks) {}

  // The stacks of `calls` come to stacks.calls from `place` on; frames are numbered from 0.
  void run(std::size_t thread, std::span<const std::uint32_t> calls, std::size_t place) {
    begin();
    std::size_t next = order_.begin[thread];
    const std::size_t end = order_.begin[thread + 1];
    if (!calls.empty()) find_outlived(thread);
    for (const std::uint32_t call : calls) {
      const std::int64_t time = trace_.launches.start_ns[call];
      for (; next < end && ranges_.start_ns[order_.rows[next]] <= time; next++)
        open(order_.rows[next], outlived_[next - order_.begin[thread]] != 0 ? INT64_MIN : time, thread);
      while (!stack_.empty() && stack_.back().end_ns <= time) stack_.pop_back();
      stacks_.of_call[call] = static_cast<std::uint32_t>(place);
      stacks_.calls[place++] = look(call, time, thread);
    }
    for (; next < end; next++) see(order_.rows[next], thread);
  }

  // Gives the stack at each range of `thread` with `wanted[row]` not kNoIndex to `found[wanted[row]]`.
  void run_ranges(std::size_t thread, std::span<const std::uint32_t> wanted, std::vector<CallStack>& found) {
    begin();
    std::int64_t last_wanted = INT64_MIN;  // nothing needs to be open behind it
    for (std::size_t i = order_.begin[thread]; i < order_.begin[thread + 1]; i++) {
      if (wanted[order_.rows[i]] != kNoIndex) last_wanted = ranges_.start_ns[order_.rows[i]];
    }
    for (std::size_t i = order_.begin[thread]; i < order_.begin[thread + 1]; i++) {
      const std::uint32_t row = order_.rows[i];
      if (ranges_.start_ns[row] > last_wanted) break;
      open(row, ranges_.start_ns[row], thread);
      if (wanted[row] != kNoIndex) found[wanted[row]] = look(0, ranges_.start_ns[row], thread);
    }
  }

  std::vector<ModuleFrame>& frames() { return frames_; }

 private:
  void begin() {
    stack_.clear();
    last_node_ = kNoRow;
    last_node_end_ = INT64_MIN;
  }

  std::int64_t end_of(std::uint32_t row) const {
    return ranges_.start_ns[row] + std::max<std::int64_t>(ranges_.duration_ns[row], 1);
  }

  // Ranges that end before one that began in them: they are in the stacks of calls behind their end.
  void find_outlived(std::size_t thread) {
    const std::size_t first = order_.begin[thread];
    outlived_.assign(order_.begin[thread + 1] - first, 0);
    open_ends_.clear();
    for (std::size_t i = 0; i < outlived_.size(); i++) {
      const std::uint32_t row = order_.rows[first + i];
      const std::int64_t end = end_of(row);
      while (!open_ends_.empty() && open_ends_.back().first <= ranges_.start_ns[row]) open_ends_.pop_back();
      // What is marked need not be looked at again: the ends that stay never rise.
      for (; !open_ends_.empty() && open_ends_.back().first < end; open_ends_.pop_back())
        outlived_[open_ends_.back().second] = 1;
      open_ends_.emplace_back(end, i);
    }
  }

  bool is_node(std::uint32_t row) const {
    return ranges_.forward_thread[row] > 0 && ranges_.sequence_number[row] != kNoNumber;
  }
  bool is_forward_operator(std::uint32_t row) const {
    return ranges_.kind[row] == RangeKind::operation && ranges_.sequence_number[row] != kNoNumber &&
           (ranges_.forward_thread[row] == 0 || ranges_.forward_thread[row] == kNoNumber);
  }

  // What every range tells of its thread, whether calls are inside or not.
  const RangeFacts& see(std::uint32_t row, std::size_t thread) {
    const RangeFacts& facts = names_.facts(ranges_.name[row], ranges_.kind[row]);
    if (facts.engine || is_node(row)) {
      stacks_.engine_thread[thread] = 1;
      if (ranges_.start_ns[row] >= last_node_end_) {
        last_node_end_ = ranges_.start_ns[row] + ranges_.duration_ns[row];
        if (is_node(row)) last_node_ = RowId{row};
      }
    } else if (is_forward_operator(row) && ranges_.start_ns[row] >= last_node_end_) {
      stacks_.forward_thread[thread] = 1;
    }
    return facts;
  }

  // A range that ended at `time` is in no stack.
  void open(std::uint32_t row, std::int64_t time, std::size_t thread) {
    const RangeFacts& facts = see(row, thread);
    const std::int64_t end = end_of(row);
    while (!stack_.empty() && stack_.back().end_ns <= ranges_.start_ns[row]) stack_.pop_back();
    if (end <= time) return;
    const std::size_t here = stack_.size();
    const bool module = ranges_.kind[row] == RangeKind::module;
    const bool operation = ranges_.kind[row] == RangeKind::operation;
    stack_.push_back({row, end,
                      !module     ? here
                      : here == 0 ? kNowhere
                                  : stack_.back().range_at,
                      operation   ? here
                      : here == 0 ? kNowhere
                                  : stack_.back().operation_at,
                      facts.copy && !module ? here
                      : here == 0           ? kNowhere
                                            : stack_.back().copy_at,
                      here == 0 ? CallStack{} : stack_.back().inherited});
    CallStack& context = stack_.back().inherited;
    inherit(row, here, facts, context);
    if (!facts.module) return;
    frames_.push_back({row, context.frame, static_cast<std::uint32_t>(here), facts.module_class, facts.module_instance,
                       ThreadId{static_cast<std::uint32_t>(thread)}});
    context.frame = static_cast<std::uint32_t>(frames_.size() - 1);
    context.frame_row = row;
  }

  void inherit(std::uint32_t row, std::size_t depth, const RangeFacts& facts, CallStack& context) const {
    const RowId id{row};
    context.optimizer = context.optimizer || facts.optimizer;
    context.forward = context.forward || facts.forward;
    context.backward = context.backward || facts.backward;
    context.engine = context.engine || facts.engine;
    context.accumulate = facts.engine ? facts.accumulate : context.accumulate || facts.accumulate;
    if (context.root == kNoRow && (facts.root || facts.module)) context.root = id;
    if (is_node(row)) {
      context.backward_operator = true;
      context.engine_node = id;
      context.node_depth = static_cast<std::uint32_t>(depth);
      context.forward_operator = kNoRow;
    } else if (facts.engine) {
      context.engine_node = kNoRow;  // a node without a number hides the one around it
      context.forward_operator = kNoRow;
    } else if (is_forward_operator(row)) {
      context.forward_operator = id;
      if (partners_.has_partner(id)) context.partnered = id;
    }
    context.clip = context.clip || facts.clip;
    context.optimizer_step = context.optimizer_step || facts.optimizer_step;
    context.before_node = context.before_node || facts.before_node;
    context.prefetch = context.prefetch || facts.prefetch;
    if (facts.engine || is_node(row)) {
      context.repeats = false;
    } else if (facts.module || is_forward_operator(row)) {
      context.repeats = true;
    }
    if (ranges_.kind[row] == RangeKind::operation && !facts.mark && context.outermost_operation == kNoRow)
      context.outermost_operation = id;
    if (facts.param_comms) context.comms = id;
    if (facts.kind != kNoString) context.kind = facts.kind;
    if (facts.layer != kUnknownLayer) {
      context.layer = facts.layer;
      context.layer_rule = facts.layer_rule;
      context.name_depth = static_cast<std::uint32_t>(depth);
      if (context.launch_layer == kUnknownLayer) {
        context.launch_layer = facts.layer;
        context.launch_depth = static_cast<std::uint32_t>(depth);
      }
    }
    const bool path_in_annotation = facts.operation_rule == LabelRule::module_path &&
                                    context.named_operation != kNoString &&
                                    context.operation_rule != LabelRule::module_path;
    if (path_in_annotation) {
      // Annotations come before paths, the outer ones as well.
    } else if (facts.operation != kNoString) {
      context.named_operation = facts.operation;
      context.operation_rule = facts.operation_rule;
    } else if (facts.engine || is_node(row)) {
      context.named_operation = kNoString;  // what is around a node does not name what it computes
      context.operation_rule = LabelRule::none;
    }
    if (facts.path_end != kNoString) context.path_end = facts.path_end;
  }

  // The last opened range is open; those below it may have ended when ranges overlap without nesting.
  CallStack look(std::uint32_t call, std::int64_t time, std::size_t thread) const {
    CallStack found = stack_.empty() ? CallStack{} : stack_.back().inherited;
    found.call = call;
    found.thread = ThreadId{static_cast<std::uint32_t>(thread)};
    found.last_node = last_node_;
    if (stack_.empty()) return found;
    const auto nearest_open = [&](std::size_t Open::*link) {
      std::size_t at = stack_.back().*link;
      while (at != kNowhere && stack_[at].end_ns <= time) at = at == 0 ? kNowhere : stack_[at - 1].*link;
      return at;
    };
    if (const std::size_t at = nearest_open(&Open::range_at); at != kNowhere) found.range = RowId{stack_[at].row};
    if (const std::size_t at = nearest_open(&Open::operation_at); at != kNowhere)
      found.operation = RowId{stack_[at].row};
    found.comm_copy = nearest_open(&Open::copy_at) != kNowhere;
    return found;
  }

  const TraceTables& trace_;
  const HostRangeTable& ranges_;
  const RangeOrder& order_;
  const ForwardPartners& partners_;
  RangeNames& names_;
  Stacks& stacks_;
  std::vector<ModuleFrame> frames_;
  std::vector<Open> stack_;
  std::vector<std::uint8_t> outlived_;                           // by place in the order of the thread
  std::vector<std::pair<std::int64_t, std::size_t>> open_ends_;  // end, place
  RowId last_node_ = kNoRow;
  std::int64_t last_node_end_ = INT64_MIN;  // of the outermost node that began last
};

}  // namespace

Stacks find_stacks(const TraceTables& trace, const RangeOrder& order, const std::vector<std::uint8_t>& wanted,
                   const ForwardPartners& partners, RangeNames& names, unsigned threads) {
  Stacks stacks;
  stacks.of_call.assign(num_rows(trace.launches), kNoIndex);
  stacks.engine_thread.assign(trace.threads.size(), 0);
  stacks.forward_thread.assign(trace.threads.size(), 0);
  const RangeOrder by_call = order_calls(trace, wanted);
  stacks.calls.resize(by_call.rows.size());
  const auto size_of = [](const RangeOrder& of, std::size_t t) { return of.begin[t + 1] - of.begin[t]; };
  std::vector<std::size_t> host_threads;
  for (std::size_t t = 0; t < trace.threads.size(); t++) {
    if (size_of(order, t) + size_of(by_call, t) > 0) host_threads.push_back(t);
  }
  std::stable_sort(host_threads.begin(), host_threads.end(),
                   [&](std::size_t a, std::size_t b) { return size_of(order, a) > size_of(order, b); });
  std::vector<std::vector<ModuleFrame>> frames(trace.threads.size());
  std::vector<std::function<void()>> tasks;
  for (const std::size_t t : host_threads) {
    tasks.push_back([&, t] {
      Sweep sweep(trace, order, partners, names, stacks);
      sweep.run(t, std::span<const std::uint32_t>(by_call.rows).subspan(by_call.begin[t], size_of(by_call, t)),
                by_call.begin[t]);
      frames[t] = std::move(sweep.frames());
    });
  }
  run_tasks(threads, tasks);
  for (std::size_t t = 0; t < trace.threads.size(); t++) {
    const auto first = static_cast<std::uint32_t>(stacks.frames.size());
    for (ModuleFrame& frame : frames[t]) {
      if (frame.parent != kNoIndex) frame.parent += first;
      stacks.frames.push_back(frame);
    }
    if (first == 0 || frames[t].empty()) continue;
    for (std::size_t i = by_call.begin[t]; i < by_call.begin[t + 1]; i++) {
      if (stacks.calls[i].frame != kNoIndex) stacks.calls[i].frame += first;
    }
  }
  return stacks;
}

std::vector<CallStack> find_stacks_of_ranges(const TraceTables& trace, const RangeOrder& order,
                                             std::span<const std::uint32_t> rows, const ForwardPartners& partners,
                                             RangeNames& names) {
  std::vector<CallStack> found(rows.size());
  std::vector<std::uint32_t> wanted(num_rows(trace.ranges), kNoIndex);
  std::vector<std::uint8_t> thread_wanted(trace.threads.size(), 0);
  for (std::size_t i = 0; i < rows.size(); i++) {
    wanted[rows[i]] = static_cast<std::uint32_t>(i);
    thread_wanted[index_of(trace.ranges.thread[rows[i]])] = 1;
  }
  Stacks unused;
  unused.engine_thread.assign(trace.threads.size(), 0);
  unused.forward_thread.assign(trace.threads.size(), 0);
  Sweep sweep(trace, order, partners, names, unused);
  for (std::size_t t = 0; t < trace.threads.size(); t++) {
    if (thread_wanted[t] != 0) sweep.run_ranges(t, wanted, found);
  }
  return found;
}

}  // namespace chopper
