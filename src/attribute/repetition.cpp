// SPDX-License-Identifier: Apache-2.0
#include "attribute/repetition.h"

#include <algorithm>

namespace chopper {
namespace {

constexpr std::size_t kMostItems = 100'000, kLongestPart = 2'000, kShortestPart = 2, kFewestParts = 3;
constexpr std::size_t kMostComparisons = 20'000'000;

// The longest stretch of items that equal those `period` behind them, but not all each other.
Repetition longest_with(std::span<const std::uint32_t> items, std::size_t period) {
  Repetition best;
  std::size_t longest = period - 1;
  std::size_t equal = 0;   // items before i that equal those behind them, without a break
  std::size_t change = 0;  // the last item that differs from the one before it
  for (std::size_t i = 0; i + period < items.size(); i++) {
    if (i > 0 && items[i] != items[i - 1]) change = i;
    equal = items[i] == items[i + period] ? equal + 1 : 0;
    if (equal <= longest || change <= i + 1 - equal) continue;
    longest = equal;
    best = {i + 1 - equal, period, equal / period + 1, equal % period};
  }
  return best;
}

bool is_product(GpuClass gpu_class) { return gpu_class == GpuClass::gemm || gpu_class == GpuClass::attention; }

// Kernels of a pass, or some of them.
struct Kernels {
  std::span<const std::uint32_t> names;
  std::span<const GpuClass> classes;
  Kernels part(std::size_t begin, std::size_t end) const {
    return {names.subspan(begin, end - begin), classes.subspan(begin, end - begin)};
  }
  std::ptrdiff_t num_products() const { return std::count_if(classes.begin(), classes.end(), is_product); }
  std::size_t num_attentions() const {
    std::size_t number = 0;
    for (std::size_t i = 0; i < classes.size(); i++) {
      if (classes[i] == GpuClass::attention && (i == 0 || classes[i - 1] != GpuClass::attention)) number++;
    }
    return number;
  }
};

// Whether something repeats itself that could be blocks: it multiplies, if the part does.
bool has_blocks(const Kernels& kernels, const Kernels& part) {
  const std::optional<Repetition> found = find_repetition(kernels.names);
  if (!found) return false;
  return part.num_products() == 0 || kernels.part(found->begin, found->begin + found->period).num_products() > 0;
}

// Whether a part could be several blocks, or a whole pass: something repeats itself in it, wherever it is taken to
// begin, or it attends more than once.
bool may_hold_blocks(const Kernels& kernels, const Repetition& found) {
  const Kernels part = kernels.part(found.begin, found.begin + found.period);
  const std::size_t half = found.begin + found.period / 2;
  return part.num_attentions() > 1 || has_blocks(part, part) ||
         has_blocks(kernels.part(half, half + found.period), part);
}

// Where the parts could begin later: they begin where each of them follows on a gather, if that is one place.
void place_by_gathers(std::span<const std::uint8_t> begins, Repetition& found) {
  std::size_t num_places = 0, place = 0;
  for (std::size_t shift = 0; shift <= found.rest; shift++) {
    bool all = true;
    for (std::size_t k = 0; k < found.count; k++) all = all && begins[found.begin + shift + k * found.period] != 0;
    if (!all) continue;
    num_places++;
    place = shift;
  }
  if (num_places != 1) return;
  found.begin += place;
  found.rest = 0;
}

// Whether blocks of another kind may lie beside those found.
bool may_hold_block(const Kernels& side, const Kernels& part) {
  if (side.num_attentions() > 0 || has_blocks(side, part)) return true;
  return part.num_products() > 0 && side.num_products() >= part.num_products();
}

}  // namespace

std::optional<Repetition> find_repetition(std::span<const std::uint32_t> items) {
  const std::size_t n = items.size();
  if (n < kShortestPart * kFewestParts || n > kMostItems) return std::nullopt;
  Repetition best;
  const std::size_t longest_part = std::min({kLongestPart, n / kFewestParts, kMostComparisons / n});
  for (std::size_t period = kShortestPart; period <= longest_part; period++) {
    // Parts of which all but the last are followed by their like: two thirds of half of the items.
    std::size_t num_equal = 0;
    for (std::size_t i = 0; i + period < n; i++) num_equal += items[i] == items[i + period] ? 1u : 0u;
    if (num_equal * 3 < n) continue;
    const Repetition found = longest_with(items, period);
    const std::size_t covered = found.count * period;
    if (found.count < kFewestParts || covered * 2 < n) continue;
    if (covered > best.count * best.period) best = found;
  }
  if (best.count == 0) return std::nullopt;
  return best;
}

std::vector<std::int32_t> layers_by_repetition(const PassKernels& pass) {
  std::vector<std::int32_t> layers(pass.names.size(), kUnknownLayer);
  std::optional<Repetition> found = find_repetition(pass.names);
  if (!found) return layers;
  place_by_gathers(pass.begins, *found);
  const Kernels kernels{pass.names, pass.classes};
  const Kernels part = kernels.part(found->begin, found->begin + found->period);
  if (may_hold_blocks(kernels, *found)) return layers;
  // Behind a block of another kind the number of the first one is not known.
  if (may_hold_block(kernels.part(0, found->begin), part)) return layers;
  std::fill_n(layers.begin(), found->begin, kOutsideLayers);
  for (std::size_t i = found->begin; i < found->end(); i++) {
    const std::size_t place = i - found->begin;
    // The first ones of a part could be the last ones of the part before.
    if (place % found->period >= found->rest) layers[i] = static_cast<std::int32_t>(place / found->period);
  }
  if (!may_hold_block(kernels.part(found->end(), pass.names.size()), part))
    std::fill(layers.begin() + static_cast<std::ptrdiff_t>(found->end()), layers.end(), kOutsideLayers);
  return layers;
}

}  // namespace chopper
