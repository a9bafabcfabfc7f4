// SPDX-License-Identifier: Apache-2.0
// Where on its thread a launch call was made: the stack of host ranges around it, boiled down to what labels need
// (attribution.md 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attribute/links.h"
#include "attribute/partners.h"
#include "attribute/range_facts.h"
#include "model/trace.h"

namespace chopper {

inline constexpr std::uint32_t kNoIndex = UINT32_MAX;

/// The stack of one launch call.
struct CallStack {
  std::uint32_t call = 0;  ///< row of LaunchTable
  ThreadId thread{};
  RowId range = kNoRow;      ///< innermost operator or annotation
  RowId operation = kNoRow;  ///< innermost operator
  RowId outermost_operation = kNoRow;
  RowId engine_node = kNoRow;          ///< innermost operator with forward thread and sequence number
  RowId last_node = kNoRow;            ///< such an operator, outermost, that began last on the thread before the call
  RowId forward_operator = kNoRow;     ///< innermost operator with sequence number and without forward thread
  RowId partnered = kNoRow;            ///< innermost operator with a backward partner
  RowId comms = kNoRow;                ///< innermost record_param_comms
  RowId root = kNoRow;                 ///< outermost forward range or module frame: delimits a pass
  std::uint32_t frame = kNoIndex;      ///< innermost module frame: index into Stacks::frames
  std::uint32_t frame_row = kNoIndex;  ///< its row
  std::uint32_t name_depth = 0;        ///< depth of the range that tells `layer`
  std::uint32_t launch_depth = 0;      ///< depth of the range that tells `launch_layer`
  std::uint32_t node_depth = 0;        ///< depth of `engine_node`
  std::int32_t layer = kUnknownLayer;  ///< told by the innermost name that tells one
  std::int32_t launch_layer = kUnknownLayer;  ///< told by the outermost name that tells one
  LabelRule layer_rule = LabelRule::none;
  LabelRule operation_rule = LabelRule::none;
  StringId named_operation = kNoString;  ///< in the table of operations
  StringId path_end = kNoString;
  StringId kind = kNoString;  ///< of a collective, by the innermost name that tells one
  bool comm_copy = false;
  bool optimizer = false, forward = false, backward = false, engine = false;
  bool backward_operator = false;  ///< below an operator with a forward thread
  bool accumulate = false;
  bool clip = false;            ///< below an operator that begins clipping
  bool optimizer_step = false;  ///< below the step itself
  bool before_node = false;     ///< below a hook that runs before a node of the engine: a gather for it
  bool prefetch = false;        ///< a gather ahead of its use
  bool repeats = false;         ///< innermost of engine node, module frame, forward operator is one of the last two
};

/// A module frame with launch calls in it.
struct ModuleFrame {
  std::uint32_t row = 0;
  std::uint32_t parent = kNoIndex;
  std::uint32_t depth = 0;  ///< in the stack
  StringId class_name = kNoString;
  std::int32_t instance = -1;
  ThreadId thread{};
};

struct Stacks {
  std::vector<CallStack> calls;        ///< by thread, then time
  std::vector<std::uint32_t> of_call;  ///< index into `calls` of each row of LaunchTable, or kNoIndex
  std::vector<ModuleFrame> frames;
  std::vector<std::uint8_t> engine_thread;   ///< per thread: has nodes of the engine
  std::vector<std::uint8_t> forward_thread;  ///< per thread: has forward operators outside engine nodes
};

/// The stacks at the start of some ranges, themselves included, in the order of `rows`. `frame` is not set, `frame_row`
/// is.
std::vector<CallStack> find_stacks_of_ranges(const TraceTables& trace, const RangeOrder& order,
                                             std::span<const std::uint32_t> rows, const ForwardPartners& partners,
                                             RangeNames& names);

/// Looks up the calls with `wanted[row]` not 0, at most `threads` host threads at a time. `names` must have learnt the
/// ranges.
Stacks find_stacks(const TraceTables& trace, const RangeOrder& order, const std::vector<std::uint8_t>& wanted,
                   const ForwardPartners& partners, RangeNames& names, unsigned threads);

}  // namespace chopper
