// SPDX-License-Identifier: Apache-2.0
// Finds, for each compute kernel of the runtime trace, the dispatch of a counter pass that is the same piece of the
// same program (docs/reference/alignment.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace chopper {

/// A name, grid or block that is not known.
inline constexpr std::uint32_t kUnknownKey = UINT32_MAX;

/// What both sides know of a kernel. Equal numbers mean equal things on both sides: the caller interns normalised names
/// (kernel_names.h) and shapes in one unit. An unknown grid or block contradicts nothing, an unknown name equals none.
struct Dispatch {
  std::uint32_t name = kUnknownKey, grid = kUnknownKey, block = kUnknownKey;
  friend bool operator==(const Dispatch&, const Dispatch&) = default;
  friend auto operator<=>(const Dispatch&, const Dispatch&) = default;
};

/// The first dispatch of an iteration. It ends where the next one begins. Equal numbers mean the same iteration of the
/// program on both sides; where the numbers of the sides cannot be compared the caller leaves the marks away.
struct IterationMark {
  std::int64_t number = 0;
  std::size_t begin = 0;
};

/// One gpu's compute kernels in dispatch order, at most 2^32 - 2 of them; marks in order, with growing numbers, or
/// none.
struct DispatchSequence {
  std::span<const Dispatch> dispatches;
  std::span<const IterationMark> marks;
};

inline constexpr std::uint32_t kUnmatched = UINT32_MAX;

/// Why a dispatch of the pass is that of a record.
enum class MatchBasis : std::uint8_t {
  none,         ///< there is no match
  marks,        ///< both lie in the iteration of the same number
  unique,       ///< the order of dispatches allows no other
  transferred,  ///< the same place of an iteration that cannot be told from others like it
  ambiguous,    ///< another dispatch nearby explains the order as well
};

/// What belongs to one record of the trace.
struct Match {
  std::uint32_t pass = kUnmatched;
  MatchBasis basis = MatchBasis::none;
  bool substituted = false;  ///< same place and shape, another name
  bool by_order = false;     ///< ambiguous only as one of equals in a row that is as long on both sides
  friend bool operator==(const Match&, const Match&) = default;
};

/// Neighbouring dispatches without a match: [trace_begin, trace_begin + num_trace) of the trace, and of the pass.
struct AlignmentGap {
  std::uint32_t trace_begin = 0, num_trace = 0, pass_begin = 0, num_pass = 0;
  friend bool operator==(const AlignmentGap&, const AlignmentGap&) = default;
};

/// The first that is true, from the end of the list.
enum class AlignmentVerdict : std::uint8_t {
  exact,                ///< every dispatch of both sides has its match
  gapped,               ///< some have none, or are substituted
  iteration_ambiguous,  ///< some matches are `transferred`, or `ambiguous` because they could be
  partial,              ///< a stretch was too hard: what has no match there may still have a partner
  unmatched,            ///< nothing was matched
};

std::string_view to_string(AlignmentVerdict verdict);
std::string_view to_string(MatchBasis basis);

struct Alignment {
  std::vector<Match> matches;      ///< one for each record of the trace; matched dispatches of the pass ascend
  std::vector<AlignmentGap> gaps;  ///< in order
  std::size_t num_matched = 0, num_substituted = 0, num_only_trace = 0, num_only_pass = 0;
  std::size_t num_marks = 0, num_unique = 0, num_transferred = 0,
              num_ambiguous = 0;  ///< by basis, with substituted ones
  AlignmentVerdict verdict = AlignmentVerdict::unmatched;
};

/// Aligns the compute kernels of a trace with those of a counter pass of the same gpu. Time and memory grow linearly
/// with the number of dispatches, whatever they are. Exchanging the sides exchanges the answer.
Alignment align(const DispatchSequence& trace, const DispatchSequence& pass);

/// Makes ambiguous what is matched in a row of equal dispatches, where nothing but its order tells which of them it is:
/// the other side has more or fewer of them, or one is substituted, or the pass both lacks and adds dispatches nearby,
/// so that one may be missing where another was added; these are `by_order`. Leaves the counts as they are. Linear.
void flag_equal_runs(const DispatchSequence& trace, const DispatchSequence& pass, Alignment& alignment);

/// Makes ambiguous what is matched directly beside a dispatch without a match that has its shape and another name: that
/// one may be the partner, renamed, and the match another one that was added. Leaves the counts as they are. Linear.
void flag_beside_renamed(const DispatchSequence& trace, const DispatchSequence& pass, Alignment& alignment);

/// The score of an alignment that is all of one stretch, by the rules of docs/reference/alignment.md, 3.
std::int64_t score_of(const DispatchSequence& trace, const DispatchSequence& pass, std::span<const Match> matches);

}  // namespace chopper
