// SPDX-License-Identifier: Apache-2.0
//   run A            gap        run B           A's end is cut as far as it would lie as well on the diagonal of B, B's
//   xxxxxxxx|aaaa    aa    aaaa|yyyyyyy         begin as far as on that of A, and four dispatches more; between the
//   cuts
//           ^--- full table ---^                the table finds the best pairs and whether there are others as good.
#include "align/refine.h"

#include <algorithm>

namespace chopper {
namespace {

// Cells of a box that is aligned as a whole: 256 x 256, less than a millisecond.
constexpr std::size_t kSmallBox = 1 << 16;
// Cells of a table between two runs: 12 MB, some milliseconds. Beyond, the runs are kept as they are.
constexpr std::size_t kMostCells = 1 << 20;
// Shorter runs are found again by the table, or better ones instead.
constexpr std::size_t kShortRun = 12;
constexpr std::size_t kFlank = 4;
// Between runs that are further apart on one side than on the other by more than this, something is missing. The table
// would place parts of it where the fewest disturbances are, among layers that are all alike; so the runs are kept.
constexpr std::size_t kLargeDrift = 64;
// Ends that could lie elsewhere over more than this are not aligned again, but marked.
constexpr std::size_t kMostSlide = 256;
// Unmatched dispatches at an end of the box that may still have pairs before the first run.
constexpr std::size_t kEdge = 256;

bool is_large_drift(const Run& a, const Run& b) {
  const std::size_t rows = b.first - a.first, columns = b.second - a.second;
  return (rows > columns ? rows - columns : columns - rows) > kLargeDrift;
}

// A run and how much of its ends is open.
struct CutRun {
  Run run;
  std::size_t front = 0, back = 0;              // dispatches for the table
  std::size_t front_slide = 0, back_slide = 0;  // dispatches that fit on the neighbour's diagonal
  bool front_far = false, back_far = false;     // which is that of another layer or iteration
  std::size_t begin() const { return run.first + front; }
  std::size_t end() const { return run.first + run.length - back; }
  bool is_left() const { return front + back == 0 || front + back + kFlank <= run.length; }
};

class Refiner {
 public:
  Refiner(const Tokens& tokens, const Box& box, LocalAligner& local, std::span<Pair> pairs)
      : tokens_(tokens), box_(box), local_(local), pairs_(pairs) {}

  void solve(const Box& part, bool begins, bool ends) {
    const auto matches = local_.solve({tokens_.first().subspan(part.first_begin, part.rows()),
                                       tokens_.second().subspan(part.second_begin, part.columns()), begins, ends});
    for (std::size_t i = 0; i < matches.size(); i++) {
      Pair& pair = pairs_[part.first_begin + i];
      pair = {};
      if (matches[i].partner != kNoPartner)
        pair.second = static_cast<std::uint32_t>(part.second_begin) + matches[i].partner;
      pair.uncertain = !matches[i].certain;
    }
  }

  void keep(const Run& run) {
    for (std::size_t k = 0; k < run.length; k++)
      pairs_[run.first + k].second = static_cast<std::uint32_t>(run.second + k);
  }

  // Sets how far the ends of two neighbours fit on each other's diagonal.
  void slide(CutRun& a, CutRun& b) const {
    const std::size_t a_end = a.run.first + a.run.length, a_second_end = a.run.second + a.run.length;
    const std::size_t rows = b.run.first - a_end, columns = b.run.second - a_second_end;
    const bool is_large = is_large_drift(a.run, b.run);
    a.back = b.front = is_large ? 0 : kFlank;
    a.back_far = b.front_far = is_large;
    if (rows == columns) return;
    const auto first = tokens_.first(), second = tokens_.second();
    while (a.back_slide < a.run.length && a.back_slide + rows < b.run.second &&
           tokens_.equal(first[a_end - 1 - a.back_slide], second[b.run.second - rows - 1 - a.back_slide]))
      a.back_slide++;
    while (b.front_slide < b.run.length && a_second_end + rows + b.front_slide < second.size() &&
           tokens_.equal(first[b.run.first + b.front_slide], second[a_second_end + rows + b.front_slide]))
      b.front_slide++;
    if (!is_large && a.back_slide <= kMostSlide) a.back += a.back_slide;
    if (!is_large && b.front_slide <= kMostSlide) b.front += b.front_slide;
  }

  // The part between two cut runs that the table is not used for: what could lie elsewhere is uncertain.
  void give_up(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) pairs_[i].uncertain = pairs_[i].second != kNoPartner;
  }

  void between(const CutRun* a, const CutRun* b) {
    Box part = box_;
    if (a != nullptr) {
      part.first_begin = a->end();
      part.second_begin = a->run.second + (a->end() - a->run.first);
    } else if (b != nullptr) {
      part.first_begin = std::max(part.first_begin, b->run.first - std::min(b->run.first, kEdge));
      part.second_begin = std::max(part.second_begin, b->run.second - std::min(b->run.second, kEdge));
    }
    if (b != nullptr) {
      part.first_end = b->begin();
      part.second_end = b->run.second + b->front;
    } else if (a != nullptr) {
      part.first_end = std::min(part.first_end, a->run.first + a->run.length + kEdge);
      part.second_end = std::min(part.second_end, a->run.second + a->run.length + kEdge);
    }
    // Short runs far from the first or last long one are chance.
    if (a == nullptr && b != nullptr) clear(box_.first_begin, part.first_begin);
    if (a != nullptr && b == nullptr) clear(part.first_end, box_.first_end);
    if (part.rows() == 0) return;
    if (a != nullptr && b != nullptr && is_large_drift(a->run, b->run)) return;
    if (part.columns() == 0) {
      solve(part, a == nullptr, b == nullptr);
    } else if (part.rows() <= kMostCells / part.columns()) {
      solve(part, a == nullptr, b == nullptr);
    } else if (a != nullptr && b != nullptr) {
      const std::size_t left = a->run.first + a->run.length, right = b->run.first;
      give_up(left - std::min(a->back_slide, left - a->end()), left);
      give_up(left, right);
      give_up(right, right + std::min(b->front_slide, b->begin() - right));
    } else {
      give_up(part.first_begin, part.first_end);
    }
  }

  void clear(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) pairs_[i] = {};
  }

  // Marks what is not left to the table.
  void mark_slides(const CutRun& cut) {
    const std::size_t end = cut.run.first + cut.run.length;
    if (cut.front_slide > cut.front) mark_slide(cut.run.first, cut.run.first + cut.front_slide, cut.front_far);
    if (cut.back_slide > cut.back) mark_slide(end - cut.back_slide, end, cut.back_far);
  }
  void mark_slide(std::size_t begin, std::size_t end, bool far) {
    for (std::size_t i = begin; i < end; i++) (far ? pairs_[i].transferred : pairs_[i].uncertain) = true;
  }

 private:
  const Tokens& tokens_;
  Box box_;
  LocalAligner& local_;
  std::span<Pair> pairs_;
};

}  // namespace

bool is_small(const Box& box) { return box.columns() == 0 || box.rows() <= kSmallBox / box.columns(); }

void refine(const Tokens& tokens, const Box& box, std::span<const Run> runs, LocalAligner& local,
            std::span<Pair> pairs) {
  if (box.rows() == 0) return;
  Refiner refiner(tokens, box, local, pairs);
  if (is_small(box)) return refiner.solve(box, true, true);
  std::vector<CutRun> cuts;
  for (std::size_t k = 0; k < runs.size(); k++) {
    refiner.keep(runs[k]);
    const bool beside_gap = (k > 0 && is_large_drift(runs[k - 1], runs[k])) ||
                            (k + 1 < runs.size() && is_large_drift(runs[k], runs[k + 1]));
    if (runs[k].length >= kShortRun || beside_gap) cuts.push_back({runs[k]});
  }
  for (std::size_t k = 0; k + 1 < cuts.size(); k++) refiner.slide(cuts[k], cuts[k + 1]);
  if (!cuts.empty()) cuts.front().front = cuts.back().back = kFlank;
  for (const CutRun& cut : cuts) refiner.mark_slides(cut);
  std::erase_if(cuts, [](const CutRun& cut) { return !cut.is_left(); });
  const CutRun* before = nullptr;
  for (const CutRun& cut : cuts) {
    refiner.between(before, &cut);
    before = &cut;
  }
  refiner.between(before, nullptr);
}

}  // namespace chopper
