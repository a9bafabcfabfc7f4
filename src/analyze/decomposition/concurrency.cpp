// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/concurrency.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/wide_integer.h"

namespace chopper {
namespace {

// Shares are rounded down to 2^-64 ns: ten million kernels of twenty million segments lose 1e-5 ns together, far from
// the whole one that rounding could not give back.
constexpr unsigned kFractionBits = 64;

// Running integrals at every time at which something starts, ends or is cut.
class Timeline {
 public:
  Timeline(std::span<const Interval> kernels, std::span<const std::int64_t> bounds) {
    std::vector<std::pair<std::int64_t, int>> events;
    events.reserve(2 * kernels.size() + bounds.size());
    for (const std::int64_t bound : bounds) events.emplace_back(bound, 0);
    for (const Interval& kernel : kernels) {
      const std::int64_t start = std::max(kernel.start, bounds.front()), end = std::min(kernel.end, bounds.back());
      if (start >= end) continue;
      events.emplace_back(start, 1);
      events.emplace_back(end, -1);
    }
    std::sort(events.begin(), events.end());
    std::int64_t running = 0;
    for (const auto& [time, change] : events) {
      if (times_.empty() || time != times_.back()) advance(time, running);
      running += change;
    }
  }

  std::size_t at(std::int64_t time) const {
    return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
  }
  // Integral of dt / n(t) between two times, in parts of a nanosecond.
  uint128 share(std::size_t from, std::size_t to) const { return shares_[to] - shares_[from]; }
  // Length of the union of the kernels between two times.
  std::uint64_t covered(std::size_t from, std::size_t to) const { return covered_[to] - covered_[from]; }

 private:
  void advance(std::int64_t time, std::int64_t running) {
    uint128 share = shares_.empty() ? 0 : shares_.back();
    std::uint64_t covered = covered_.empty() ? 0 : covered_.back();
    if (running > 0) {
      const std::uint64_t length = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(times_.back());
      share += (static_cast<uint128>(length) << kFractionBits) / static_cast<std::uint64_t>(running);
      covered += length;
    }
    times_.push_back(time);
    shares_.push_back(share);
    covered_.push_back(covered);
  }

  std::vector<std::int64_t> times_;
  std::vector<uint128> shares_;
  std::vector<std::uint64_t> covered_;
};

struct Piece {
  std::uint32_t window = 0, kernel = 0;
  uint128 share = 0;

  std::uint64_t fraction() const { return static_cast<std::uint64_t>(share); }
};

std::vector<Piece> pieces_of(std::span<const Interval> kernels, std::span<const std::int64_t> bounds,
                             const Timeline& timeline) {
  std::vector<Piece> pieces;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    if (kernels[k].start >= kernels[k].end) continue;
    const auto behind = std::upper_bound(bounds.begin(), bounds.end(), kernels[k].start);
    std::size_t window = behind == bounds.begin() ? 0 : static_cast<std::size_t>(behind - bounds.begin()) - 1;
    for (; window + 1 < bounds.size() && bounds[window] < kernels[k].end; window++) {
      const std::int64_t start = std::max(kernels[k].start, bounds[window]);
      const std::int64_t end = std::min(kernels[k].end, bounds[window + 1]);
      if (start >= end) continue;
      const uint128 share = timeline.share(timeline.at(start), timeline.at(end));
      pieces.push_back({static_cast<std::uint32_t>(window), static_cast<std::uint32_t>(k), share});
    }
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.window < b.window; });
  return pieces;
}

// Whole nanoseconds of the pieces of one window, which sum to `total`.
void add_rounded(std::span<const Piece> pieces, std::uint64_t total, std::vector<WindowWeight>& weights) {
  const std::size_t first = weights.size();
  std::vector<std::size_t> order(pieces.size());
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < pieces.size(); i++) {
    const auto whole = static_cast<std::uint64_t>(pieces[i].share >> kFractionBits);
    weights.push_back({pieces[i].window, pieces[i].kernel, static_cast<std::int64_t>(whole)});
    given += whole;
    order[i] = i;
  }
  // Each piece lost less than a nanosecond, so none gets a second one.
  const std::uint64_t missing = total - given;
  CHOPPER_CHECK(given <= total && missing <= pieces.size());
  const auto nth = order.begin() + static_cast<std::ptrdiff_t>(missing);
  if (missing < order.size()) {
    std::nth_element(order.begin(), nth, order.end(), [&](std::size_t a, std::size_t b) {
      return pieces[a].fraction() != pieces[b].fraction() ? pieces[a].fraction() > pieces[b].fraction() : a < b;
    });
  }
  std::for_each(order.begin(), nth, [&](std::size_t i) { weights[first + i].weight_ns++; });
}

}  // namespace

std::vector<WindowWeight> concurrency_weights(std::span<const Interval> kernels, std::span<const std::int64_t> bounds) {
  std::vector<WindowWeight> weights;
  if (bounds.size() < 2) return weights;
  const Timeline timeline(kernels, bounds);
  const std::vector<Piece> pieces = pieces_of(kernels, bounds, timeline);
  weights.reserve(pieces.size());
  for (std::size_t begin = 0; begin < pieces.size();) {
    std::size_t end = begin + 1;
    const std::size_t window = pieces[begin].window;
    while (end < pieces.size() && pieces[end].window == window) end++;
    const std::uint64_t total = timeline.covered(timeline.at(bounds[window]), timeline.at(bounds[window + 1]));
    add_rounded(std::span(pieces).subspan(begin, end - begin), total, weights);
    begin = end;
  }
  return weights;
}

}  // namespace chopper
