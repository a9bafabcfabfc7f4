// SPDX-License-Identifier: Apache-2.0
#include "base/quantile_sketch.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(QuantileSketch, IsExactBelow1024AndAtTheEnds) {
  QuantileSketch sketch;
  for (int i = 1; i <= 10; i++) sketch.add(i * 100);
  EXPECT_EQ(sketch.quantile(50, 100), 500);   // rank 5
  EXPECT_EQ(sketch.quantile(51, 100), 600);   // rank ceil(5.1)
  EXPECT_EQ(sketch.quantile(95, 100), 1000);  // rank 10
  EXPECT_EQ(sketch.quantile(0, 100), 100);
  EXPECT_EQ(sketch.sum(), 5500);
}

TEST(QuantileSketch, PrintsTheMiddleOfABucketWithinTheTrueEnds) {
  QuantileSketch sketch;
  sketch.add(10000);  // bucket [10000, 10008)
  EXPECT_EQ(sketch.quantile(1, 2), 10000) << "clamped to the only value";
  sketch.add(10007);
  EXPECT_EQ(sketch.quantile(1, 2), 10004);
  sketch.add(INT64_MAX);
  EXPECT_EQ(sketch.quantile(1, 1), 9221120237041090560) << "2047.5 x 2^52";
}

}  // namespace
}  // namespace chopper
