// SPDX-License-Identifier: Apache-2.0
// Which inputs lie in one folder: files of one execution of a profiler do.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/summary.h"

namespace chopper {

/// Made once: thousands of files are looked up.
class Folders {
 public:
  explicit Folders(const std::vector<InputSummary>& inputs);

  /// Of the inputs beside `input` for which `holds(index)`, the one whose file name has the longest beginning in
  /// common; the first of several. SIZE_MAX where there is none.
  template <class Holds>
  std::size_t find_beside(std::size_t input, Holds&& holds) const {
    std::size_t best = SIZE_MAX, longest = 0;
    for (const std::size_t other : *folder_of_[input]) {
      if (!holds(other)) continue;
      const std::string &a = name_of_[input], &b = name_of_[other];
      const auto length =
          static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
      if (best != SIZE_MAX && length <= longest) continue;
      best = other;
      longest = length;
    }
    return best;
  }

 private:
  std::map<std::string, std::vector<std::size_t>> inputs_;
  std::vector<const std::vector<std::size_t>*> folder_of_;  // of each input
  std::vector<std::string> name_of_;
};

}  // namespace chopper
