// SPDX-License-Identifier: Apache-2.0
#include "catalog/host_blockers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace chopper {
namespace {

TEST(HostBlockerRules, TheShippedFileIsGood) {
  const Result<HostBlockerRules> rules = embedded_host_blocker_rules();
  ASSERT_TRUE(rules.ok()) << rules.error().text();
  const std::vector<std::string>& calls = rules.value().synchronise_calls;
  EXPECT_NE(std::find(calls.begin(), calls.end(), "hipStreamSynchronize"), calls.end());
}

TEST(HostBlockerRules, UnknownListsAreRefused) {
  const Result<HostBlockerRules> rules = parse_host_blocker_rules("[synchronise]\ncall = []\n");
  ASSERT_FALSE(rules.ok());
  EXPECT_EQ(rules.error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace chopper
