// SPDX-License-Identifier: Apache-2.0
#include "cli/size_words.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(SizeWords, Units) {
  EXPECT_EQ(size_of_words("2000000"), 2'000'000);
  EXPECT_EQ(size_of_words("500MB"), 500'000'000);
  EXPECT_EQ(size_of_words("4G"), 4'000'000'000);
  EXPECT_EQ(size_of_words("3K"), 3000);
  EXPECT_EQ(size_of_words("1TB"), 1'000'000'000'000);
  EXPECT_EQ(size_of_words("16GiB"), std::int64_t{16} << 30);
  EXPECT_EQ(size_of_words("1KiB"), 1024);
}

TEST(SizeWords, RefuseTheRest) {
  for (const char* text : {"", "0", "-1", "G", "GB", "iB", "5iB", "5B", "1.5G", "4 G", "4g", "1000000000000001",
                           "2000TB", "99999999999999999999", "B"})
    EXPECT_EQ(size_of_words(text), std::nullopt) << text;
}

}  // namespace
}  // namespace chopper
