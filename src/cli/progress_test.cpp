// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(ProgressText, SaysHowFarAndHowLong) {
  EXPECT_EQ(progress_text(0, 0, 1), "looking for traces");
  EXPECT_EQ(progress_text(0, 1000, 1), "read 0 B of 1.0 kB  0 %  0 B/s");
  EXPECT_EQ(progress_text(1'000'000'000, 4'000'000'000, 2), "read 1.0 GB of 4.0 GB  25 %  500.0 MB/s  6 s left");
  EXPECT_EQ(progress_text(1'000, 1'000'000, 1), "read 1.0 kB of 1.0 MB  0 %  1.0 kB/s  17 min left");
  EXPECT_EQ(progress_text(4'000, 4'000, 2), "read 4.0 kB, analysing");
}

TEST(ProgressDisplay, EndsAtOnce) {
  const Progress progress;
  const ProgressDisplay plain(progress, ProgressMode::plain);
  const ProgressDisplay off(progress, ProgressMode::off);
}

}  // namespace
}  // namespace chopper
