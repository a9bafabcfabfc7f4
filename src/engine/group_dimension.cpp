// SPDX-License-Identifier: Apache-2.0
#include "engine/group_dimension.h"

#include <array>
#include <charconv>
#include <system_error>

namespace chopper {
namespace {

// The step between neighbouring ranks; nullopt when it is not the same everywhere, or not known.
std::optional<std::int64_t> stride_of(const std::vector<std::int64_t>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const std::int64_t stride = ranks[1] - ranks[0];
  for (std::size_t i = 2; i < ranks.size(); i++) {
    if (ranks[i] - ranks[i - 1] != stride) return std::nullopt;
  }
  return stride;
}

std::string_view by_layout(const RunFacts& facts, std::optional<std::int64_t> world_size, const GroupTexts& group) {
  if (!facts.tensor_parallel && !facts.pipeline_parallel && !facts.context_parallel && !facts.data_parallel &&
      !facts.sharding) {
    return {};
  }
  const std::int64_t tensor = facts.tensor_parallel.value_or(1), context = facts.context_parallel.value_or(1),
                     pipeline = facts.pipeline_parallel.value_or(1);
  std::int64_t data = facts.data_parallel.value_or(0);
  // Factors are bounded by the largest job there is, so that products do not overflow.
  constexpr std::int64_t kMaxRanks = 1 << 20;
  for (const std::int64_t factor : {tensor, context, pipeline, data}) {
    if (factor < 0 || factor > kMaxRanks) return {};
  }
  const std::int64_t others = tensor * context;
  if (others > kMaxRanks || others * pipeline > kMaxRanks) return {};
  if (data == 0 && world_size && *world_size <= kMaxRanks) data = *world_size / (others * pipeline);
  if (data < 1) return {};
  const std::optional<std::int64_t> stride = stride_of(ranks_of_text(group.ranks));
  struct Dimension {
    std::string_view name;
    std::int64_t size, stride;
  };
  const std::array<Dimension, 5> dimensions = {
      {{"tensor", tensor, 1},
       {"context", context, tensor},
       {"data", data, others},
       {"data", data * context, tensor},  // gradients of context parallel ranks
       {"pipeline", pipeline, others * data}}};
  std::string_view found;
  for (const Dimension& d : dimensions) {
    if (d.size < 2 || d.size != group.size || (stride && *stride != d.stride)) continue;
    if (!found.empty() && found != d.name) return {};  // without ranks the size alone may fit two
    found = d.name;
  }
  return found;
}

}  // namespace

std::vector<std::int64_t> ranks_of_text(std::string_view text) {
  std::vector<std::int64_t> ranks;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.') break;
    if (c < '0' || c > '9') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{}) break;
    ranks.push_back(rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return ranks;
}

std::string_view group_dimension(const GroupDimensionRules& rules, const RunFacts& facts,
                                 std::optional<std::int64_t> world_size, const GroupTexts& group) {
  for (const std::string_view text : {group.description, group.group}) {
    const std::string_view dimension = dimension_of_name(rules, text);
    if (!dimension.empty()) return dimension;
  }
  if (group.kind == "p2p") return "pipeline";
  return by_layout(facts, world_size, group);
}

}  // namespace chopper
