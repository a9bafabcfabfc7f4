// SPDX-License-Identifier: Apache-2.0
#include "align/pins.h"

#include <algorithm>

namespace chopper {
namespace {

// By how much the places of neighbours in a row may drift apart, and how far apart anchors of a row are.
constexpr std::size_t kMostDrift = 8, kStep = 2048;

struct Hit {
  std::uint32_t first, second;
};
// Hits [begin, end) that follow each other on both sides.
struct Row {
  std::size_t begin, end;
  std::size_t reach;
};

std::size_t difference(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

// Hits in rows; a stretch that both sides have, but not once each, ends a row.
std::vector<Row> rows_of(const StretchIndex& index, std::vector<Hit>& hits) {
  std::vector<Row> rows;
  bool broken = true;
  for (const Stretch& stretch : index.first()) {
    if (!index.is_unique(stretch.kind)) {
      broken = broken || !index.second_of(stretch.kind).empty();
      continue;
    }
    const Hit hit{stretch.begin, index.second_of(stretch.kind).front()};
    if (!broken) {
      const Hit& last = hits.back();
      const std::size_t step = hit.first - last.first;
      broken = hit.second <= last.second || difference(hit.second - last.second, step) > kMostDrift;
    }
    if (broken) rows.push_back({hits.size(), hits.size(), 0});
    broken = false;
    hits.push_back(hit);
    rows.back().end = hits.size();
    rows.back().reach = hit.first - hits[rows.back().begin].first + index.length();
  }
  return rows;
}

// Prefix maxima over places of the second side (a Fenwick tree): the heaviest chain that ends before a place.
class ChainsByPlace {
 public:
  struct Chain {
    std::uint64_t weight = 0;
    std::size_t last = SIZE_MAX;
  };
  explicit ChainsByPlace(std::size_t size) : tree_(size + 1) {}
  Chain heaviest_before(std::size_t place) const {
    Chain best;
    for (std::size_t at = place; at > 0; at &= at - 1) {
      if (tree_[at].weight > best.weight) best = tree_[at];
    }
    return best;
  }
  void add(std::size_t place, Chain chain) {
    for (std::size_t at = place + 1; at < tree_.size(); at += at & (~at + 1)) {
      if (chain.weight > tree_[at].weight) tree_[at] = chain;
    }
  }

 private:
  std::vector<Chain> tree_;
};

// The rows of largest reach together that ascend on the second side as well.
std::vector<Row> heaviest_chain(const std::vector<Row>& rows, const std::vector<Hit>& hits) {
  std::vector<std::uint32_t> ends;
  for (const Row& row : rows) ends.push_back(hits[row.end - 1].second);
  std::sort(ends.begin(), ends.end());
  const auto rank = [&](std::uint32_t place) {
    return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), place) - ends.begin());
  };
  ChainsByPlace chains(rows.size());
  std::vector<std::size_t> before(rows.size(), SIZE_MAX);
  ChainsByPlace::Chain best;
  for (std::size_t r = 0; r < rows.size(); r++) {
    const ChainsByPlace::Chain chain = chains.heaviest_before(rank(hits[rows[r].begin].second));
    before[r] = chain.last;
    const ChainsByPlace::Chain longer{chain.weight + rows[r].reach, r};
    chains.add(rank(hits[rows[r].end - 1].second), longer);
    if (longer.weight > best.weight) best = longer;
  }
  std::vector<Row> chosen;
  for (std::size_t r = best.last; r != SIZE_MAX; r = before[r]) chosen.push_back(rows[r]);
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<Anchor> find_pins(const StretchIndex& index) {
  std::vector<Hit> hits;
  std::vector<Row> rows = rows_of(index, hits);
  std::erase_if(rows, [&](const Row& row) { return row.reach < least_reach(index.length()); });
  std::vector<Anchor> anchors;
  for (const Row& row : heaviest_chain(rows, hits)) {
    const std::size_t last = row.end - 1;
    std::size_t next = 0;
    for (std::size_t h = row.begin; h < row.end; h++) {
      if (h != row.begin && h != last && hits[h].first < next) continue;
      anchors.push_back({hits[h].first, hits[h].second});
      next = hits[h].first + kStep;
    }
  }
  return anchors;
}

}  // namespace chopper
