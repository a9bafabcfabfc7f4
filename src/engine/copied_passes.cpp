// SPDX-License-Identifier: Apache-2.0
#include "engine/copied_passes.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace chopper {
namespace {

bool same_bytes(const std::string& a, const std::string& b) {
  std::ifstream x(a, std::ios::binary);
  std::ifstream y(b, std::ios::binary);
  std::vector<char> p(std::size_t{1} << 16), q(p.size());
  if (!x || !y) return false;
  while (true) {
    x.read(p.data(), static_cast<std::streamsize>(p.size()));
    y.read(q.data(), static_cast<std::streamsize>(q.size()));
    if (x.gcount() != y.gcount() || !std::equal(p.begin(), p.begin() + x.gcount(), q.begin())) return false;
    if (x.gcount() == 0) return true;
  }
}

}  // namespace

bool have_same_bytes(const InputSummary& a, const InputSummary& b) {
  return a.facts.file_bytes == b.facts.file_bytes && same_bytes(a.full_path, b.full_path);
}

void drop_copied_passes(std::vector<InputSummary>& inputs, HealthLog& health) {
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::size_t>> kept_of;  // by size and number of values
  std::vector<InputSummary> kept;
  for (InputSummary& input : inputs) {
    if (!input.pass || input.pass->num_values == 0) {
      kept.push_back(std::move(input));
      continue;
    }
    std::vector<std::size_t>& alike = kept_of[{input.facts.file_bytes, input.pass->num_values}];
    const auto twin = std::find_if(alike.begin(), alike.end(), [&](std::size_t k) {
      return kept[k].facts.rank == input.facts.rank && have_same_bytes(kept[k], input);
    });
    if (twin != alike.end()) {
      health.add(HealthKind::duplicate_file, input.path, "same bytes as " + kept[*twin].path);
      continue;
    }
    alike.push_back(kept.size());
    kept.push_back(std::move(input));
  }
  inputs = std::move(kept);
}

}  // namespace chopper
