// SPDX-License-Identifier: Apache-2.0
// docs/reference/health.md is written by hand; its facts come from model/health.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "model/health.h"

namespace chopper {
namespace {

TEST(HealthPage, ExplainsEveryKindInItsOwnWords) {
  std::ifstream file(CHOPPER_SOURCE_DIR "/docs/reference/health.md");
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  for (std::size_t k = 0; k < kNumHealthKinds; k++) {
    const HealthKindInfo& facts = info(static_cast<HealthKind>(k));
    const std::string row = fmt::format("| `{}` | {} | {} | {} |", facts.name, to_string(facts.severity), facts.meaning,
                                        facts.cost.empty() ? "nothing" : facts.cost);
    EXPECT_NE(text.str().find(row), std::string::npos) << "missing in docs/reference/health.md: " << row;
  }
}

}  // namespace
}  // namespace chopper
