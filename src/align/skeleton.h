// SPDX-License-Identifier: Apache-2.0
// Equal runs that an alignment of long sequences goes through. Starting from anchors it walks along equal dispatches,
// steps over small disturbances by trying, and over large ones by looking up the rarest stretch ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "align/local.h"
#include "align/pins.h"
#include "align/stretches.h"
#include "align/tokens.h"

namespace chopper {

/// [first, first + length) of the first side equals [second, second + length) of the second.
struct Run {
  std::size_t first = 0, second = 0, length = 0;
};

/// A rectangle of places: [first_begin, first_end) of one side, [second_begin, second_end) of the other.
struct Box {
  std::size_t first_begin = 0, first_end = 0, second_begin = 0, second_end = 0;
  std::size_t rows() const { return first_end - first_begin; }
  std::size_t columns() const { return second_end - second_begin; }
};

/// A step over a disturbance.
struct Skip {
  std::size_t first = 0, second = 0;
  bool found = false;
};

class Walker {
 public:
  Walker(const Tokens& tokens, const StretchIndex& index);

  /// Appends the equal runs on the way from the begin of `box` (from its end) to the other side, as far as that leads;
  /// returns what is left of the box. Without jumps it ends at the first large disturbance.
  Box walk_forward(const Box& box, bool may_jump, std::vector<Run>& runs);
  Box walk_backward(const Box& box, bool may_jump, std::vector<Run>& runs);
  /// From both corners of a box, which both belong to the alignment.
  void fill(const Box& box, std::vector<Run>& runs);
  /// Whether looking for stretches was given up, to stay linear.
  bool gave_up() const { return lookups_left_ == 0; }

 private:
  template <bool kBackward>
  Box walk(Box box, bool may_jump, std::vector<Run>& runs);
  template <bool kBackward>
  Skip skip_by_table(const Box& box);
  template <bool kBackward>
  bool jump(const Box& box, Anchor& target);

  const Tokens& tokens_;
  const StretchIndex& index_;
  LocalAligner local_;
  std::size_t lookups_left_;
};

/// The place to start from when there are no pins: of a stretch that is rare, as late as both sides allow.
Anchor find_start(const Tokens& tokens, const StretchIndex& index, Walker& walker);

/// All equal runs of the whole of two sequences, in order.
std::vector<Run> find_runs(const Tokens& tokens, const StretchIndex& index, Walker& walker);

}  // namespace chopper
