// SPDX-License-Identifier: Apache-2.0
// Random traces as text, valid or damaged, from one seed. Whoever uses them prints the seed when something fails:
//   SCOPED_TRACE(seed_text(seed));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"

namespace chopper::test {

/// What a random trace is like.
struct TraceShape {
  std::size_t num_launches = 30;
  std::size_t num_gpus = 2;
  std::size_t num_streams = 3;
  std::int64_t base_ns = 1767225600000000000;  ///< 0: none is written
  std::int64_t shift_ns = 0;                   ///< added to every time
  std::int64_t rank = -1;                      ///< below 0: none is written
  std::int64_t world_size = 1;
  bool odd_events = true;  ///< begin and end pairs, metadata, memory events, host work, records without a link
};

/// A trace in pieces, so that a test can reorder or split it.
struct BuiltTrace {
  std::string head;  ///< up to the bracket that opens the events
  std::vector<std::string> events;
  std::string tail;  ///< from the bracket that closes them

  std::string text() const;
};

/// Builds a valid trace; the same seed and shape give the same one. All times are multiples of a nanosecond in [0, 1
/// s).
BuiltTrace build_trace(std::uint64_t seed, const TraceShape& shape);

/// Returns `text` with a few bytes flipped, removed, doubled or inserted, or cut short.
std::string damage(std::string text, Random& random);

/// Names the seed of a failed case.
std::string seed_text(std::uint64_t seed);

}  // namespace chopper::test
