// SPDX-License-Identifier: Apache-2.0
#include "catalog/units.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

Unit unit_of(std::string_view text) {
  const Result<Unit> unit = parse_unit(text);
  EXPECT_TRUE(unit.ok()) << text;
  return unit.ok() ? unit.value() : Unit{};
}

TEST(units, are_products_and_quotients_of_names) {
  EXPECT_EQ(dimensions_text(unit_of("cycles")), "cycles");
  EXPECT_EQ(dimensions_text(unit_of("bytes/requests")), "bytes/requests");
  EXPECT_EQ(dimensions_text(unit_of("cycles*bytes/ns/ns")), "cycles*bytes/ns/ns");
  EXPECT_EQ(dimensions_text(unit_of("ratio/ns")), "1/ns");
  EXPECT_EQ(dimensions_text(unit_of("ratio")), "a pure number");
}

TEST(units, scales_are_of_the_dimensions) {
  // 1 GB/s = 1e9 bytes in 1e9 ns; 1 MHz = 1e6 cycles in 1e9 ns; 1 percent = 0.01.
  EXPECT_DOUBLE_EQ(unit_of("GB/s").scale, 1);
  EXPECT_DOUBLE_EQ(unit_of("MHz").scale, 1e-3);
  EXPECT_DOUBLE_EQ(unit_of("percent").scale, 0.01);
  EXPECT_DOUBLE_EQ(unit_of("TFLOP/s").scale, 1e3);
  EXPECT_TRUE(unit_of("MHz").has_dimensions_of(unit_of("cycles/ms")));
  EXPECT_FALSE(unit_of("cycles").has_dimensions_of(unit_of("quad_cycles")));
}

TEST(units, unknown_names_are_refused) {
  for (const char* text : {"", "parsecs", "bytes/", "/ns", "bytes//ns", "bytes ns", "cycles*"})
    EXPECT_FALSE(parse_unit(text).ok()) << text;
}

TEST(units, powers_without_bound_are_refused) {
  std::string text = "ns";
  for (int i = 0; i < 200; i++) text += "*ns";
  EXPECT_FALSE(parse_unit(text).ok());
}

}  // namespace
}  // namespace chopper
