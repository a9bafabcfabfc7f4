// SPDX-License-Identifier: Apache-2.0
#include "cli/closest_word.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace chopper {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row by row: the cost of turning the first i letters of a into the first j of b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); i++) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
      now[j] = std::min({replace, last[j] + 1, now[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string closest_word(std::string_view typed, std::span<const std::string> words) {
  std::string best;
  // A third of the letters wrong is still a typing mistake; more is another word.
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : words) {
    const bool begins = typed.size() >= 3 && word.starts_with(typed);
    const std::size_t distance = begins ? 1 : edit_distance(typed, word);
    if (distance < best_distance) {
      best_distance = distance;
      best = word;
    }
  }
  return best;
}

}  // namespace chopper
