// SPDX-License-Identifier: Apache-2.0
#include "catalog/metric_expression.h"

#include <charconv>
#include <cmath>

namespace chopper {
namespace {

// A problem with one expression; thrown inside this file, turned into an Error at its door.
struct Bad {
  std::string message;
  std::size_t column;
};

bool begins_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

// Recursive descent: sum = product {(+|-) product}, product = value {(*|/) value}.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<ExpressionNode> parse() {
    parse_sum();
    skip_spaces();
    if (at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "'");
    return std::move(nodes_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Bad{message, at_ + 1}; }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) at_++;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  void need(char c) {
    if (!take(c)) fail("expected '" + std::string(1, c) + "'");
  }

  std::size_t add(ExpressionNode node) {
    // Longer than any metric: a bound for what a hostile file makes of memory.
    constexpr std::size_t kMostNodes = 1000;
    if (nodes_.size() >= kMostNodes) fail("longer than 1000 terms");
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  std::size_t pair(ExpressionKind kind, std::size_t left, std::size_t right, std::size_t column) {
    ExpressionNode node;
    node.kind = kind;
    node.left = left;
    node.right = right;
    node.column = column;
    return add(std::move(node));
  }

  std::size_t parse_sum() {
    std::size_t left = parse_product();
    for (;;) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      const std::size_t column = at_;
      left = pair(plus ? ExpressionKind::add : ExpressionKind::subtract, left, parse_product(), column);
    }
  }

  std::size_t parse_product() {
    std::size_t left = parse_value();
    for (;;) {
      const bool times = take('*');
      if (!times && !take('/')) return left;
      const std::size_t column = at_;
      left = pair(times ? ExpressionKind::multiply : ExpressionKind::divide, left, parse_value(), column);
    }
  }

  std::size_t parse_value() {
    skip_spaces();
    if (at_ >= text_.size()) fail("ends where a value is expected");
    if (is_digit(text_[at_])) return parse_number();
    if (begins_name(text_[at_])) return parse_named();
    need('(');
    const std::size_t inside = parse_inside();
    need(')');
    return inside;
  }

  std::size_t parse_inside() {
    constexpr int kDeepest = 64;  // parentheses in each other; beyond any metric, far below the stack
    if (depth_ >= kDeepest) fail("more than 64 parentheses in each other");
    depth_++;
    const std::size_t inside = parse_sum();
    depth_--;
    return inside;
  }

  std::size_t parse_number() {
    ExpressionNode node;
    node.column = at_ + 1;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), node.number);
    if (error != std::errc{} || !std::isfinite(node.number)) fail("not a number");
    at_ += static_cast<std::size_t>(end - begin);
    if (take('[')) {
      const std::size_t close = text_.find(']', at_);
      if (close == std::string_view::npos) fail("expected ']'");
      const Result<Unit> unit = parse_unit(text_.substr(at_, close - at_));
      if (!unit.ok()) fail(unit.error().message);
      node.unit = unit.value();
      at_ = close + 1;
    }
    return add(std::move(node));
  }

  std::string parse_name() {
    skip_spaces();
    const std::size_t begin = at_;
    if (at_ >= text_.size() || !begins_name(text_[at_])) fail("expected a name");
    while (at_ < text_.size() && continues_name(text_[at_])) at_++;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::size_t parse_named() {
    ExpressionNode node;
    node.column = at_ + 1;
    node.name = parse_name();
    node.kind = ExpressionKind::name;
    if (!take('(')) return add(std::move(node));
    if (node.name != "sum" && node.name != "max" && node.name != "min")
      fail("unknown function '" + node.name + "': there are sum(COUNTER), max(COUNTER), min(a, b), max(a, b)");
    return parse_arguments(node.name, node.column);
  }

  // max(NAME) is a reduction, max(a, b) the larger of two.
  std::size_t parse_arguments(const std::string& function, std::size_t column) {
    const std::size_t before = nodes_.size();
    const std::size_t first = parse_inside();
    if (take(',')) {
      if (function == "sum") fail("sum takes one counter");
      const std::size_t second = parse_inside();
      need(')');
      return pair(function == "min" ? ExpressionKind::smaller : ExpressionKind::larger, first, second, column);
    }
    need(')');
    const bool one_name = nodes_.size() == before + 1 && nodes_.back().kind == ExpressionKind::name;
    if (function == "min" || !one_name)
      fail(function == "min" ? "min takes two values" : function + " of one argument takes the name of a counter");
    nodes_.back().kind = function == "sum" ? ExpressionKind::counter_sum : ExpressionKind::counter_maximum;
    return first;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<ExpressionNode> nodes_;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  try {
    return Expression{std::string(text), Parser(text).parse()};
  } catch (const Bad& problem) {
    return Error{ErrorCode::bad_input,
                 problem.message + " at column " + std::to_string(problem.column) + " of: " + std::string(text), "",
                 "expressions: + - * / ( ), numbers with units 4 [cycles/quad_cycles], sum(COUNTER), max(COUNTER), "
                 "min(a, b), max(a, b), names of metrics and facts"};
  }
}

}  // namespace chopper
