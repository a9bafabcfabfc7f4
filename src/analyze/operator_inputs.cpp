// SPDX-License-Identifier: Apache-2.0
#include "analyze/operator_inputs.h"

#include <algorithm>
#include <array>

namespace chopper {
namespace {

// Names of C++ types as compilers and PyTorch's type registry spell them. Sorted by name.
constexpr std::array<ElementType, 36> kTypes = {{
    {ElementKind::integer, 8, "__int64"},
    {ElementKind::boolean, 1, "bool"},
    {ElementKind::floating, 2, "c10::BFloat16"},
    {ElementKind::floating, 1, "c10::Float4_e2m1fn_x2"},
    {ElementKind::floating, 1, "c10::Float8_e4m3fn"},
    {ElementKind::floating, 1, "c10::Float8_e4m3fnuz"},
    {ElementKind::floating, 1, "c10::Float8_e5m2"},
    {ElementKind::floating, 1, "c10::Float8_e5m2fnuz"},
    {ElementKind::floating, 1, "c10::Float8_e8m0fnu"},
    {ElementKind::floating, 2, "c10::Half"},
    {ElementKind::complex, 4, "c10::complex<c10::Half>"},
    {ElementKind::complex, 16, "c10::complex<double>"},
    {ElementKind::complex, 8, "c10::complex<float>"},
    {ElementKind::integer, 4, "c10::qint32"},
    {ElementKind::integer, 1, "c10::qint8"},
    {ElementKind::integer, 1, "c10::quint8"},
    {ElementKind::integer, 1, "char"},
    {ElementKind::floating, 8, "double"},
    {ElementKind::floating, 4, "float"},
    {ElementKind::integer, 4, "int"},
    {ElementKind::integer, 2, "int16_t"},
    {ElementKind::integer, 4, "int32_t"},
    {ElementKind::integer, 8, "int64_t"},
    {ElementKind::integer, 1, "int8_t"},
    {ElementKind::integer, 8, "long"},
    {ElementKind::integer, 8, "long int"},
    {ElementKind::integer, 8, "long long"},
    {ElementKind::integer, 2, "short"},
    {ElementKind::integer, 2, "short int"},
    {ElementKind::integer, 1, "signed char"},
    {ElementKind::integer, 1, "uint8_t"},
    {ElementKind::integer, 1, "unsigned char"},
    {ElementKind::integer, 4, "unsigned int"},
    {ElementKind::integer, 8, "unsigned long"},
    {ElementKind::integer, 8, "unsigned long int"},
    {ElementKind::integer, 2, "unsigned short"},
}};
static_assert(std::is_sorted(kTypes.begin(), kTypes.end(),
                             [](const ElementType& a, const ElementType& b) { return a.name < b.name; }));

// Reads the two JSON texts; only what they can hold. Every step checks the end of the text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // "[" items "]" with commas between; calls `item` at the start of each.
  template <class Item>
  bool list(Item item) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!item()) return false;
    } while (take(','));
    return take(']');
  }

  bool number(std::int64_t& value) {
    blanks();
    // 15 digits: no tensor is larger, and products of a few stay far from the limits of a double.
    constexpr std::size_t kMostDigits = 15;
    const std::size_t from = at_;
    value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++) {
      if (at_ - from == kMostDigits) return false;
      value = value * 10 + (text_[at_] - '0');
    }
    return at_ > from;
  }

  bool string(std::string_view& value) {
    if (!take('"')) return false;
    const std::size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) return false;
    value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value.find('\\') == std::string_view::npos;
  }

  bool at_list() {
    blanks();
    return at_ < text_.size() && text_[at_] == '[';
  }
  bool at_end() {
    blanks();
    return at_ == text_.size();
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      at_++;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// PyTorch tensors have at most 64 dimensions; operators have a few dozen arguments.
constexpr std::size_t kMostDimensions = 64;
constexpr std::size_t kMostArguments = 4096;

bool read_extents(Reader& reader, Extents& extents) {
  return reader.list([&] {
    std::int64_t value = 0;
    if (!reader.number(value) || extents.size() == kMostDimensions) return false;
    extents.push_back(value);
    return true;
  });
}

// An argument is a list of numbers (a tensor), or a list of such lists.
bool read_argument(Reader& reader, OperatorInput& argument) {
  return reader.list([&] {
    if (reader.at_list()) {
      if (!argument.extents.empty() || argument.list.size() == kMostArguments) return false;
      argument.list.emplace_back();
      return read_extents(reader, argument.list.back());
    }
    std::int64_t value = 0;
    if (!argument.list.empty() || argument.extents.size() == kMostDimensions || !reader.number(value)) return false;
    argument.extents.push_back(value);
    return true;
  });
}

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  const auto* found = std::lower_bound(kTypes.begin(), kTypes.end(), name,
                                       [](const ElementType& type, std::string_view n) { return type.name < n; });
  if (found == kTypes.end() || found->name != name) return std::nullopt;
  return *found;
}

double num_elements(std::span<const std::int64_t> extents) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

std::optional<OperatorInputs> parse_operator_inputs(std::string_view shapes, std::string_view types) {
  OperatorInputs inputs;
  Reader reader(shapes);
  const bool good = reader.list([&] {
    if (inputs.arguments.size() == kMostArguments) return false;
    inputs.arguments.emplace_back();
    return read_argument(reader, inputs.arguments.back());
  });
  if (!good || !reader.at_end()) return std::nullopt;
  if (types.empty()) {
    for (OperatorInput& argument : inputs.arguments) argument.is_tensor = !argument.extents.empty();
    return inputs;
  }
  inputs.has_types = true;
  std::size_t i = 0;
  Reader names(types);
  const bool named = names.list([&] {
    std::string_view name;
    if (i == inputs.arguments.size() || !names.string(name)) return false;
    OperatorInput& argument = inputs.arguments[i++];
    argument.type = element_type(name);
    argument.is_tensor = argument.list.empty() && argument.type.has_value();
    return true;
  });
  if (!named || !names.at_end() || i != inputs.arguments.size()) return std::nullopt;
  return inputs;
}

const OperatorInput* tensor_at(const OperatorInputs& inputs, int n) {
  if (n < 0 || static_cast<std::size_t>(n) >= inputs.arguments.size()) return nullptr;
  const OperatorInput& input = inputs.arguments[static_cast<std::size_t>(n)];
  return input.is_tensor ? &input : nullptr;
}

std::string_view text_in_list(std::string_view list, std::size_t n) {
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = list.find('"', at);
    if (begin == std::string_view::npos) return {};
    std::size_t end = begin + 1;
    while (end < list.size() && list[end] != '"') end += list[end] == '\\' ? 2u : 1u;
    if (end >= list.size()) return {};
    if (n == 0) return list.substr(begin + 1, end - begin - 1);
    n--;
    at = end + 1;
  }
}

}  // namespace chopper
