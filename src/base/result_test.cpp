// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace chopper {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return Error{ErrorCode::bad_input, "odd: " + std::to_string(value), "a.json", "give an even one"};
  return value / 2;
}
Result<int> quarter_of(int value) {
  CHOPPER_TRY(const int half, half_of(value));
  CHOPPER_TRY(const int quarter, half_of(half));
  return quarter;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(half_of(4).ok());
  EXPECT_EQ(half_of(4).value(), 2);
  EXPECT_FALSE(static_cast<bool>(half_of(3)));
  EXPECT_EQ(half_of(3).error().code, ErrorCode::bad_input);
}

TEST(Result, TryPassesTheFirstErrorOn) {
  EXPECT_EQ(quarter_of(8).value(), 2);
  EXPECT_EQ(quarter_of(6).error().message, "odd: 3");
  EXPECT_EQ(quarter_of(5).error().message, "odd: 5");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

TEST(Error, TextIsOneLineWithWhatIsThere) {
  EXPECT_EQ((Error{ErrorCode::not_found, "no such file", "a.json", "check the path"}.text()),
            "a.json: no such file (check the path)");
  EXPECT_EQ((Error{ErrorCode::usage, "no RUN given", "", ""}.text()), "no RUN given");
  EXPECT_EQ(std::string(to_string(ErrorCode::not_found)), "not_found");
}

}  // namespace
}  // namespace chopper
