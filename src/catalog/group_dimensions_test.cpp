// SPDX-License-Identifier: Apache-2.0
#include "catalog/group_dimensions.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(GroupDimensions, ByTheWordsOfTheDescription) {
  const Result<GroupDimensionRules> rules = embedded_group_dimension_rules();
  ASSERT_TRUE(rules.ok()) << rules.error().text();
  const struct {
    std::string_view description, dimension;
  } cases[] = {{"mesh_tp", "tensor"},
               {"mesh_dp_shard_cp", "data"},
               {"mesh_dp_replicate", "data"},
               {"mesh_pp", "pipeline"},
               {"mesh_cp", "context"},
               {"mesh_ep", "expert"},
               {"TENSOR_MODEL_PARALLEL_GROUP", "tensor"},
               {"DATA_PARALLEL_GROUP_WITH_CP", "data"},
               {"EXPERT_MODEL_PARALLEL_GROUP", "expert"},
               {"EXPERT_TENSOR_PARALLEL_GROUP", "tensor"},
               {"default_pg", ""},
               {"undefined", ""},
               {"", ""}};
  for (const auto& c : cases) EXPECT_EQ(dimension_of_name(rules.value(), c.description), c.dimension) << c.description;
}

TEST(GroupDimensions, MissingListsAreRefused) {
  EXPECT_FALSE(parse_group_dimension_rules("[data]\nwords = [\"dp\"]\n").ok());
}

}  // namespace
}  // namespace chopper
