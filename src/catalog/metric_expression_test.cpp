// SPDX-License-Identifier: Apache-2.0
#include "catalog/metric_expression.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

// The tree in prefix form: "(+ 1 (* 2 sum:A))".
std::string shape(const Expression& expression, std::size_t at) {
  const ExpressionNode& node = expression.nodes[at];
  const auto pair = [&](const char* name) {
    return "(" + std::string(name) + " " + shape(expression, node.left) + " " + shape(expression, node.right) + ")";
  };
  switch (node.kind) {
    case ExpressionKind::number:
      return std::to_string(static_cast<int>(node.number));
    case ExpressionKind::counter_sum:
      return "sum:" + node.name;
    case ExpressionKind::counter_maximum:
      return "max:" + node.name;
    case ExpressionKind::name:
      return node.name;
    case ExpressionKind::add:
      return pair("+");
    case ExpressionKind::subtract:
      return pair("-");
    case ExpressionKind::multiply:
      return pair("*");
    case ExpressionKind::divide:
      return pair("/");
    case ExpressionKind::smaller:
      return pair("min");
    case ExpressionKind::larger:
      return pair("max");
  }
  return "?";
}

std::string shape_of(std::string_view text) {
  const Result<Expression> expression = parse_expression(text);
  return expression.ok() ? shape(expression.value(), expression.value().nodes.size() - 1) : expression.error().message;
}

TEST(metric_expression, products_bind_before_sums_and_both_from_the_left) {
  EXPECT_EQ(shape_of("1 + 2 * sum(A)"), "(+ 1 (* 2 sum:A))");
  EXPECT_EQ(shape_of("8 - 4 - 2"), "(- (- 8 4) 2)");
  EXPECT_EQ(shape_of("8 / 4 / 2"), "(/ (/ 8 4) 2)");
  EXPECT_EQ(shape_of("(1 + 2) * max(A)"), "(* (+ 1 2) max:A)");
}

TEST(metric_expression, max_of_one_counter_is_a_reduction_of_two_values_the_larger) {
  EXPECT_EQ(shape_of("max(A)"), "max:A");
  EXPECT_EQ(shape_of("max(gpu_cycles, 1)"), "(max gpu_cycles 1)");
  EXPECT_EQ(shape_of("min(sum(A), sum(B) - 1)"), "(min sum:A (- sum:B 1))");
}

TEST(metric_expression, names_may_have_dots) {
  EXPECT_EQ(shape_of("sm__cycles_elapsed.max / 2"), "(/ sm__cycles_elapsed.max 2)");
}

TEST(metric_expression, numbers_have_units) {
  const Result<Expression> expression = parse_expression("128 [bytes/requests]");
  ASSERT_TRUE(expression.ok());
  EXPECT_EQ(dimensions_text(expression.value().nodes.back().unit), "bytes/requests");
}

TEST(metric_expression, errors_name_the_column) {
  EXPECT_EQ(shape_of("1 +"), "ends where a value is expected at column 4 of: 1 +");
  EXPECT_EQ(shape_of("sum(1)"), "sum of one argument takes the name of a counter at column 7 of: sum(1)");
  EXPECT_EQ(shape_of("min(A)"), "min takes two values at column 7 of: min(A)");
  EXPECT_EQ(shape_of("sum(A, B)"), "sum takes one counter at column 7 of: sum(A, B)");
  EXPECT_EQ(
      shape_of("avg(A)"),
      "unknown function 'avg': there are sum(COUNTER), max(COUNTER), min(a, b), max(a, b) at column 5 of: avg(A)");
  EXPECT_EQ(shape_of("1 2"), "unexpected '2' at column 3 of: 1 2");
  EXPECT_EQ(shape_of("1 [bytes"), "expected ']' at column 4 of: 1 [bytes");
  EXPECT_EQ(shape_of("1 [furlongs]"), "unknown unit 'furlongs' at column 4 of: 1 [furlongs]");
  EXPECT_EQ(shape_of(""), "ends where a value is expected at column 1 of: ");
}

TEST(metric_expression, hostile_lengths_and_depths_are_refused) {
  const std::string deep = std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_FALSE(parse_expression(deep).ok());
  std::string functions = "1";
  for (int i = 0; i < 1000; i++) functions = "max(" + functions + ", 1)";
  EXPECT_FALSE(parse_expression(functions).ok());
  std::string text = "1";
  for (int i = 0; i < 2000; i++) text += "+1";
  EXPECT_FALSE(parse_expression(text).ok());
}

}  // namespace
}  // namespace chopper
