// SPDX-License-Identifier: Apache-2.0
// Units and expressions of metrics: read, or refused with a reason. Metric files are read by toml++, which is not ours
// to fuzz: version 3.3 asserts on the header "[[)" and shifts out of range on some bytes beyond ASCII.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catalog/metric_expression.h"
#include "catalog/units.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

bool is_operator(char c) { return c == '*' || c == '/'; }

void check_unit(const std::string& text) {
  const chopper::Result<chopper::Unit> unit = chopper::parse_unit(text);
  if (!unit.ok()) return;
  const std::string dimensions = chopper::dimensions_text(unit.value());
  // Units may stand for two dimensions each; a text of more than 16 is refused.
  if (dimensions == "a pure number" || std::count_if(dimensions.begin(), dimensions.end(), is_operator) >= 16) return;
  const chopper::Result<chopper::Unit> again = chopper::parse_unit(dimensions);
  expect(again.ok() && again.value().has_dimensions_of(unit.value()) && again.value().scale == 1);
}

void check_expression(const std::string& text) {
  using chopper::ExpressionKind;
  const chopper::Result<chopper::Expression> expression = chopper::parse_expression(text);
  if (!expression.ok()) {
    expect(!expression.error().message.empty());
    return;
  }
  const auto& nodes = expression.value().nodes;
  expect(!nodes.empty());
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const bool is_leaf = nodes[i].kind <= ExpressionKind::name;
    expect(is_leaf || (nodes[i].left < i && nodes[i].right < i));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_unit(text);
  check_expression(text);
  return 0;
}
