// SPDX-License-Identifier: Apache-2.0
#include "cli/selection_words.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(SelectionWords, ReadsAll) {
  RunOptions options;
  EXPECT_FALSE(read_selection({"phase,layer,operation", "3", "forward,backward", "4-8", "mlp_up,attn_fa"}, options));
  EXPECT_TRUE(options.grain_layer);
  EXPECT_FALSE(options.grain_iteration);
  EXPECT_EQ(options.selection.iterations, (NumberRange{3, 3}));
  EXPECT_EQ(options.selection.layers, (NumberRange{4, 8}));
  EXPECT_EQ(options.selection.phases, (std::vector<Phase>{Phase::forward, Phase::backward}));
  EXPECT_EQ(options.selection.operations, (std::vector<std::string>{"mlp_up", "attn_fa"}));
  RunOptions none;
  EXPECT_FALSE(read_selection({}, none));
  EXPECT_TRUE(none.selection.is_everything());
}

TEST(SelectionWords, SaysWhatIsWrong) {
  RunOptions options;
  EXPECT_EQ(read_selection({"layers", "", "", "", ""}, options)->hint, "did you mean layer?");
  EXPECT_EQ(read_selection({"", "8-4", "", "", ""}, options)->message, "--iterations takes N or A-B, not '8-4'");
  EXPECT_EQ(read_selection({"", "", "fwd", "", ""}, options)->message,
            "--phase takes forward, backward, optimizer, other, unlabelled, not 'fwd'");
  EXPECT_TRUE(read_selection({"", "", "", "x", ""}, options));
  EXPECT_TRUE(read_selection({"", "", "", "-3", ""}, options));
}

}  // namespace
}  // namespace chopper
