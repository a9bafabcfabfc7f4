// SPDX-License-Identifier: Apache-2.0
// The language of derived metrics: arithmetic over counters, other metrics, and facts of kernels and gpus.
//   128 [bytes/requests] * sum(TCC_BUBBLE) + 64 [bytes/requests] * (sum(TCC_EA0_RDREQ) - sum(TCC_BUBBLE))
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/units.h"

namespace chopper {

enum class ExpressionKind : std::uint8_t {
  number,           ///< 128, 128 [bytes/requests]
  counter_sum,      ///< sum(NAME): over the instances of the hardware
  counter_maximum,  ///< max(NAME): the largest of the instances
  name,             ///< a metric, a fact, or a counter that is told as one value
  add,
  subtract,
  multiply,
  divide,
  smaller,  ///< min(a, b)
  larger,   ///< max(a, b)
};

struct ExpressionNode {
  ExpressionKind kind = ExpressionKind::number;
  double number = 0;  ///< in the dimensions of `unit`
  Unit unit;          ///< of a number
  std::string name;
  std::size_t left = 0, right = 0;  ///< indices of earlier nodes
  std::size_t column = 1;           ///< where it stands in the text, from 1
};

/// A parsed expression; the last node is its value.
struct Expression {
  std::string text;
  std::vector<ExpressionNode> nodes;
};

/// Parses `text`. The message of an error names the column.
Result<Expression> parse_expression(std::string_view text);

}  // namespace chopper
