// SPDX-License-Identifier: Apache-2.0
// Convolutions. Every element of the result (transposed: of the input) meets one row of the weight, 2 FLOPs for each
// of its elements. Bytes: input, weight, bias and result once each. How large the result is follows from stride,
// padding and dilation, which are values: "Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"].
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "analyze/work_rules.h"

namespace chopper {
namespace {

constexpr int kNoArgument = -1;

// Where the arguments of a forward convolution stand; input and weight are the first two.
struct Forward {
  std::string_view name;
  int bias, stride, padding, dilation;
  int output_padding = kNoArgument, groups = kNoArgument;  // of those that are or may be transposed
  int transposed = kNoArgument;                            // the argument that says so
  bool always_transposed = false;
  int added = kNoArgument;  // a tensor like the result that is added to it
};

// Sorted by name.
// clang-format off
constexpr std::array kForward = {
    Forward{"aten::_conv_depthwise2d",                   3, 4, 5, 6},
    Forward{"aten::_convolution",                        2, 3, 4, 5, 7, 8, 6},
    Forward{"aten::_slow_conv2d_forward",                3, 4, 5, kNoArgument},
    Forward{"aten::conv1d",                              2, 3, 4, 5},
    Forward{"aten::conv2d",                              2, 3, 4, 5},
    Forward{"aten::conv3d",                              2, 3, 4, 5},
    Forward{"aten::conv_depthwise3d",                    3, 4, 5, 6},
    Forward{"aten::conv_transpose1d",                    2, 3, 4, 7, 5, 6, kNoArgument, true},
    Forward{"aten::conv_transpose2d",                    2, 3, 4, 7, 5, 6, kNoArgument, true},
    Forward{"aten::conv_transpose3d",                    2, 3, 4, 7, 5, 6, kNoArgument, true},
    Forward{"aten::convolution",                         2, 3, 4, 5, 7, 8, 6},
    Forward{"aten::convolution_overrideable",            2, 3, 4, 5, 7, 8, 6},
    Forward{"aten::cudnn_convolution",                   kNoArgument, 3, 2, 4},
    Forward{"aten::cudnn_convolution_add_relu",          4, 5, 6, 7, kNoArgument, kNoArgument, kNoArgument, false, 2},
    Forward{"aten::cudnn_convolution_relu",              2, 3, 4, 5},
    Forward{"aten::cudnn_convolution_transpose",         kNoArgument, 4, 2, 5, 3, 6, kNoArgument, true},
    Forward{"aten::miopen_convolution",                  2, 4, 3, 5},
    Forward{"aten::miopen_convolution_add_relu",         4, 5, 6, 7, kNoArgument, kNoArgument, kNoArgument, false, 2},
    Forward{"aten::miopen_convolution_relu",             2, 3, 4, 5},
    Forward{"aten::miopen_convolution_transpose",        2, 5, 3, 6, 4, 7, kNoArgument, true},
    Forward{"aten::miopen_depthwise_convolution",        2, 4, 3, 5},
    Forward{"aten::mkldnn_convolution",                  2, 4, 3, 5},
    Forward{"aten::slow_conv3d_forward",                 3, 4, 5, kNoArgument},
    Forward{"aten::slow_conv_dilated2d",                 3, 4, 5, 6},
    Forward{"aten::slow_conv_dilated3d",                 3, 4, 5, 6},
    Forward{"aten::thnn_conv2d",                         3, 4, 5, kNoArgument},
};
// clang-format on
static_assert(std::is_sorted(kForward.begin(), kForward.end(),
                             [](const Forward& a, const Forward& b) { return a.name < b.name; }));

// Where the arguments of both gradients stand. `mask`: which of them were asked for, input, weight and bias.
struct Backward {
  std::string_view name;
  std::size_t gradient, input;
  int mask;
};

// In traces before 2021 the input is first. Sorted by name.
constexpr std::array kBackward = {
    Backward{"aten::_slow_conv2d_backward", 0, 1, 6},
    Backward{"aten::convolution_backward", 0, 1, 10},
    Backward{"aten::convolution_backward_overrideable", 0, 1, 9},
    Backward{"aten::cudnn_convolution_backward", 1, 0, kNoArgument},
    Backward{"aten::cudnn_convolution_transpose_backward", 1, 0, kNoArgument},
    Backward{"aten::miopen_convolution_backward", 1, 0, kNoArgument},
    Backward{"aten::mkldnn_convolution_backward", 1, 0, kNoArgument},
};
static_assert(std::is_sorted(kBackward.begin(), kBackward.end(),
                             [](const Backward& a, const Backward& b) { return a.name < b.name; }));

// One of the two gradients alone.
constexpr std::array<std::string_view, 2> kBackwardOfInput = {"aten::cudnn_convolution_backward_input",
                                                              "aten::miopen_convolution_backward_input"};

// The value of an argument that is a list of numbers, "[2, 2]"; one number stands for all dimensions.
std::optional<Extents> numbers_at(const OperatorInputs& inputs, int argument, std::size_t num_dimensions) {
  std::string_view text =
      argument < 0 ? std::string_view() : text_in_list(inputs.values, static_cast<std::size_t>(argument));
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  Extents numbers;
  while (true) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // No kernel steps, pads or spreads further than the largest grid.
    constexpr std::int64_t kMost = std::int64_t{1} << 32;
    if (error != std::errc() || number < 0 || number > kMost) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
  if (numbers.size() == 1) numbers.resize(num_dimensions, numbers[0]);
  if (numbers.size() != num_dimensions) return std::nullopt;
  return numbers;
}

// Stride, padding and dilation of each dimension of the grid.
struct Steps {
  Extents stride, padding, dilation, output_padding;
};

std::optional<Steps> steps_of(const Forward& form, const OperatorInputs& inputs, std::size_t num_dimensions,
                              bool transposed) {
  const auto stride = numbers_at(inputs, form.stride, num_dimensions);
  const auto padding = numbers_at(inputs, form.padding, num_dimensions);
  auto dilation = numbers_at(inputs, form.dilation, num_dimensions);
  auto output_padding = numbers_at(inputs, form.output_padding, num_dimensions);
  if (form.dilation < 0) dilation = Extents(num_dimensions, 1);
  if (!transposed) output_padding = Extents(num_dimensions, 0);
  if (!stride || !padding || !dilation || !output_padding) return std::nullopt;
  return Steps{*stride, *padding, *dilation, *output_padding};
}

// Extents of a damaged file may be anything below 10^15, and so may steps: only doubles hold their products.
constexpr double kMostPlaces = 1e15;

// How many places of the grid the result has; nullopt where the values do not fit the extents.
std::optional<double> result_places(const Extents& input, const Extents& weight, const Steps& steps, bool transposed) {
  double places = 1;
  for (std::size_t i = 0; i + 2 < input.size(); i++) {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double extent = real(input[i + 2]), stride = real(steps.stride[i]), padding = real(steps.padding[i]);
    const double reach = real(steps.dilation[i]) * (real(weight[i + 2]) - 1);
    if (stride < 1 || reach < 0) return std::nullopt;
    const double result = transposed ? (extent - 1) * stride - 2 * padding + reach + real(steps.output_padding[i]) + 1
                                     : std::floor((extent + 2 * padding - reach - 1) / stride) + 1;
    places *= result;
    if (result < 1 || places > kMostPlaces || extent < 1) return std::nullopt;
  }
  return places;
}

// Whether the call is transposed; nullopt where it does not say.
std::optional<bool> is_transposed(const Forward& form, const OperatorInputs& inputs) {
  if (form.always_transposed) return true;
  if (form.transposed < 0) return false;
  const std::string_view value = text_in_list(inputs.values, static_cast<std::size_t>(form.transposed));
  if (value == "True") return true;
  if (value == "False") return false;
  return std::nullopt;
}

// A transposed convolution's weight has the channels of one group of the result.
std::optional<double> transposed_channels(const Forward& form, const OperatorInputs& inputs, const Extents& weight) {
  const std::string_view text = text_in_list(inputs.values, static_cast<std::size_t>(form.groups));
  std::int64_t groups = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), groups);
  if (error != std::errc() || end != text.data() + text.size() || groups < 1 || weight[0] % groups != 0)
    return std::nullopt;
  return static_cast<double>(weight[1]) * static_cast<double>(groups);
}

std::optional<Work> forward_work(const Forward& form, const OperatorInputs& inputs) {
  const OperatorInput* input = tensor_at(inputs, 0);
  const OperatorInput* weight = tensor_at(inputs, 1);
  const auto transposed = is_transposed(form, inputs);
  if (input == nullptr || weight == nullptr || !transposed) return std::nullopt;
  const Extents& x = input->extents;
  const Extents& w = weight->extents;
  // Without a batch the input has one extent less than the weight.
  Extents batched = x;
  if (x.size() + 1 == w.size()) batched.insert(batched.begin(), 1);
  if (w.size() < 3 || batched.size() != w.size() || w[0] < 1 || w[1] < 1) return std::nullopt;
  if (*transposed ? batched[1] != w[0] : batched[1] % w[1] != 0) return std::nullopt;
  const std::int64_t groups = *transposed ? 1 : batched[1] / w[1];
  if (groups < 1 || w[0] % groups != 0) return std::nullopt;
  const auto steps = steps_of(form, inputs, w.size() - 2, *transposed);
  if (!steps) return std::nullopt;
  const auto places = result_places(batched, w, *steps, *transposed);
  if (!places) return std::nullopt;

  const auto channels = *transposed ? transposed_channels(form, inputs, w) : std::optional(static_cast<double>(w[0]));
  if (!channels) return std::nullopt;
  const double results = static_cast<double>(batched[0]) * *channels * *places;
  const double row = num_elements(std::span(w).subspan(1));
  Work work;
  work.flops = 2 * (*transposed ? input->elements() : results) * row;
  if (!input->type || !weight->type) return work;
  work.peak = peak_of(*input->type, true);
  work.bytes = (input->elements() + results) * input->type->bytes + weight->elements() * weight->type->bytes;
  for (const int argument : {form.bias, form.added}) {
    const OperatorInput* more = tensor_at(inputs, argument);
    if (more != nullptr && more->type) work.bytes += more->elements() * more->type->bytes;
  }
  return work;
}

// FLOPs of one gradient from the gradient of the result, the input and the weight: each element of the larger side of
// the grid, results or (transposed) inputs, meets one row of the weight. Which of the two it is follows from the
// channels and, where both fit, from the grids: a transposed convolution does not shrink them.
std::optional<double> gradient_flops(const Extents& gradient, const Extents& input, const Extents& weight) {
  if (gradient.size() < 3 || gradient.size() != input.size() || weight.size() != input.size()) return std::nullopt;
  if (gradient[0] != input[0] || weight[0] <= 0 || weight[1] <= 0) return std::nullopt;
  const double row = num_elements(std::span(weight).subspan(1));
  const bool straight = gradient[1] == weight[0] && input[1] % weight[1] == 0;
  const bool transposed = input[1] == weight[0] && gradient[1] % weight[1] == 0;
  if (!straight && !transposed) return std::nullopt;
  bool grows = false;
  for (std::size_t i = 2; i < input.size(); i++) grows = grows || gradient[i] > input[i];
  const bool by_gradient = straight && !(transposed && grows);
  return 2 * num_elements(by_gradient ? gradient : input) * row;
}

// Which of the gradients of input and weight were asked for: the first layer of a network needs one only. Both where
// the call does not say.
struct Asked {
  bool input = true, weight = true;
};

Asked asked_gradients(const OperatorInputs& inputs, int mask) {
  if (mask < 0) return {};
  const std::string_view text = text_in_list(inputs.values, static_cast<std::size_t>(mask));
  for (const auto& [written, asked] : {std::pair{"[True, True,", Asked{true, true}},
                                       {"[True, False,", Asked{true, false}},
                                       {"[False, True,", Asked{false, true}},
                                       {"[False, False,", Asked{false, false}}}) {
    if (text.starts_with(written)) return asked;
  }
  return {};
}

std::optional<Work> backward_work(const Backward& form, const OperatorInputs& inputs) {
  const OperatorInput* gradient = tensor_at(inputs, static_cast<int>(form.gradient));
  const OperatorInput* input = tensor_at(inputs, static_cast<int>(form.input));
  const OperatorInput* weight = tensor_at(inputs, 2);
  if (gradient == nullptr || input == nullptr || weight == nullptr) return std::nullopt;
  const auto flops = gradient_flops(gradient->extents, input->extents, weight->extents);
  if (!flops) return std::nullopt;
  const Asked asked = asked_gradients(inputs, form.mask);
  Work work;
  work.flops = *flops * ((asked.input ? 1 : 0) + (asked.weight ? 1 : 0));
  if (!gradient->type || !input->type || !weight->type) return work;
  work.peak = peak_of(*gradient->type, true);
  work.bytes = gradient->elements() * gradient->type->bytes;
  // The gradient of the weight needs the input, that of the input the weight.
  const double of_input = input->elements() * input->type->bytes, of_weight = weight->elements() * weight->type->bytes;
  if (asked.input) work.bytes += of_input + of_weight;
  if (asked.weight) work.bytes += of_input + of_weight;
  return work;
}

// (size of the input, gradient, weight, ...): the channels of the input and its grid are not kept, those of the
// gradient and the weight are enough.
std::optional<Work> gradient_of_input(const OperatorInputs& inputs) {
  const OperatorInput* gradient = tensor_at(inputs, 1);
  const OperatorInput* weight = tensor_at(inputs, 2);
  if (gradient == nullptr || weight == nullptr || weight->extents.size() < 3 ||
      gradient->extents.size() != weight->extents.size() || gradient->extents[1] != weight->extents[0])
    return std::nullopt;
  const double row = num_elements(std::span(weight->extents).subspan(1));
  return Work{2 * gradient->elements() * row, 0, gradient->type ? peak_of(*gradient->type, true) : PeakKind::none};
}

}  // namespace

WorkAnswer convolution_work(std::string_view name, const OperatorInputs& inputs) {
  if (const Forward* form = find_rule(kForward, name)) return {true, forward_work(*form, inputs)};
  if (const Backward* form = find_rule(kBackward, name)) return {true, backward_work(*form, inputs)};
  if (std::find(kBackwardOfInput.begin(), kBackwardOfInput.end(), name) != kBackwardOfInput.end())
    return {true, gradient_of_input(inputs)};
  return {name.find("conv") != std::string_view::npos, std::nullopt};
}

}  // namespace chopper
