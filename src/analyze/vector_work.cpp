// SPDX-License-Identifier: Apache-2.0
// Everything that is no matrix product: no FLOPs, only bytes. Operators differ in what they read and what they write.
#include <algorithm>
#include <array>

#include "analyze/work_rules.h"

namespace chopper {
namespace {

// What is written, or read besides the tensors.
enum class Result : std::uint8_t {
  same,        // the inputs, broadcast against each other
  boolean,     // likewise, one byte each
  like_first,  // as the first input: norms, softmax
  unknown,     // smaller than the input by dimensions whose numbers are not kept: left out
  overwrite,   // the first input is written and not read
  with_mask,   // as the first input, and a byte for each of its elements
  rows,        // table [V, ...] and indices: the rows that are met are read and written (of index_select: those of the
               // first dimension, whose number is not kept)
  elements,    // source and indices: as many elements as there are indices are read and written
};

struct Vector {
  std::string_view name;
  std::uint8_t num_tensors;  // inputs among the tensors; what comes behind is a result that was handed in
  Result result;
};

// Sorted by name; a name ending in _ that is not here is looked up without it: the same, in place.
// clang-format off
constexpr std::array kVectors = {
    Vector{"aten::_fused_rms_norm", 3, Result::like_first},
    Vector{"aten::_fused_rms_norm_backward", 4, Result::like_first},
    Vector{"aten::_log_softmax", 1, Result::like_first},
    Vector{"aten::_log_softmax_backward_data", 2, Result::like_first},
    Vector{"aten::_softmax", 1, Result::like_first},
    Vector{"aten::_softmax_backward_data", 2, Result::like_first},
    Vector{"aten::abs", 1, Result::same},
    Vector{"aten::add", 2, Result::same},
    Vector{"aten::addcdiv", 3, Result::same},
    Vector{"aten::addcmul", 3, Result::same},
    Vector{"aten::all", 1, Result::unknown},
    Vector{"aten::amax", 1, Result::unknown},
    Vector{"aten::amin", 1, Result::unknown},
    Vector{"aten::any", 1, Result::unknown},
    Vector{"aten::argmax", 1, Result::unknown},
    Vector{"aten::argmin", 1, Result::unknown},
    Vector{"aten::atan2", 2, Result::same},
    Vector{"aten::bernoulli_", 1, Result::overwrite},
    Vector{"aten::binary_cross_entropy_with_logits", 2, Result::same},
    Vector{"aten::bitwise_and", 2, Result::same},
    Vector{"aten::bitwise_not", 1, Result::same},
    Vector{"aten::bitwise_or", 2, Result::same},
    Vector{"aten::bitwise_xor", 2, Result::same},
    Vector{"aten::ceil", 1, Result::same},
    Vector{"aten::clamp", 1, Result::same},
    Vector{"aten::clamp_max", 1, Result::same},
    Vector{"aten::clamp_min", 1, Result::same},
    Vector{"aten::copy_", 2, Result::overwrite},
    Vector{"aten::cos", 1, Result::same},
    Vector{"aten::cudnn_batch_norm", 5, Result::like_first},
    Vector{"aten::cudnn_batch_norm_backward", 9, Result::like_first},
    Vector{"aten::cumsum", 1, Result::same},
    Vector{"aten::div", 2, Result::same},
    Vector{"aten::elu", 1, Result::same},
    Vector{"aten::elu_backward", 2, Result::same},
    Vector{"aten::embedding", 2, Result::rows},
    Vector{"aten::embedding_dense_backward", 2, Result::like_first},
    Vector{"aten::eq", 2, Result::boolean},
    Vector{"aten::erf", 1, Result::same},
    Vector{"aten::exp", 1, Result::same},
    Vector{"aten::exponential_", 1, Result::overwrite},
    Vector{"aten::fill_", 1, Result::overwrite},
    Vector{"aten::floor", 1, Result::same},
    Vector{"aten::fmod", 2, Result::same},
    Vector{"aten::gather", 2, Result::elements},
    Vector{"aten::ge", 2, Result::boolean},
    Vector{"aten::gelu", 1, Result::same},
    Vector{"aten::gelu_backward", 2, Result::same},
    Vector{"aten::gt", 2, Result::boolean},
    Vector{"aten::hardtanh", 1, Result::same},
    Vector{"aten::index_select", 2, Result::rows},
    Vector{"aten::isfinite", 1, Result::boolean},
    Vector{"aten::isinf", 1, Result::boolean},
    Vector{"aten::isnan", 1, Result::boolean},
    Vector{"aten::le", 2, Result::boolean},
    Vector{"aten::leaky_relu", 1, Result::same},
    Vector{"aten::leaky_relu_backward", 2, Result::same},
    Vector{"aten::lerp", 3, Result::same},
    Vector{"aten::linalg_vector_norm", 1, Result::unknown},
    Vector{"aten::log", 1, Result::same},
    Vector{"aten::log1p", 1, Result::same},
    Vector{"aten::logical_and", 2, Result::boolean},
    Vector{"aten::logical_not", 1, Result::boolean},
    Vector{"aten::logical_or", 2, Result::boolean},
    Vector{"aten::lt", 2, Result::boolean},
    Vector{"aten::masked_fill", 2, Result::like_first},
    Vector{"aten::max", 1, Result::unknown},
    Vector{"aten::maximum", 2, Result::same},
    Vector{"aten::mean", 1, Result::unknown},
    Vector{"aten::min", 1, Result::unknown},
    Vector{"aten::minimum", 2, Result::same},
    Vector{"aten::miopen_batch_norm", 5, Result::like_first},
    Vector{"aten::miopen_batch_norm_backward", 9, Result::like_first},
    Vector{"aten::mish", 1, Result::same},
    Vector{"aten::mse_loss", 2, Result::same},
    Vector{"aten::mse_loss_backward", 3, Result::same},
    Vector{"aten::mul", 2, Result::same},
    Vector{"aten::nan_to_num", 1, Result::same},
    Vector{"aten::native_batch_norm", 5, Result::like_first},
    Vector{"aten::native_batch_norm_backward", 7, Result::like_first},
    Vector{"aten::native_dropout", 1, Result::with_mask},
    Vector{"aten::native_dropout_backward", 2, Result::like_first},
    Vector{"aten::native_group_norm", 3, Result::like_first},
    Vector{"aten::native_group_norm_backward", 5, Result::like_first},
    Vector{"aten::native_layer_norm", 3, Result::like_first},
    Vector{"aten::native_layer_norm_backward", 6, Result::like_first},
    Vector{"aten::ne", 2, Result::boolean},
    Vector{"aten::neg", 1, Result::same},
    Vector{"aten::norm", 1, Result::unknown},
    Vector{"aten::normal_", 1, Result::overwrite},
    Vector{"aten::pow", 2, Result::same},
    Vector{"aten::prod", 1, Result::unknown},
    Vector{"aten::random_", 1, Result::overwrite},
    Vector{"aten::reciprocal", 1, Result::same},
    Vector{"aten::relu", 1, Result::same},
    Vector{"aten::remainder", 2, Result::same},
    Vector{"aten::round", 1, Result::same},
    Vector{"aten::rsqrt", 1, Result::same},
    Vector{"aten::rsub", 2, Result::same},
    Vector{"aten::sigmoid", 1, Result::same},
    Vector{"aten::sigmoid_backward", 2, Result::same},
    Vector{"aten::sign", 1, Result::same},
    Vector{"aten::silu", 1, Result::same},
    Vector{"aten::silu_backward", 2, Result::same},
    Vector{"aten::sin", 1, Result::same},
    Vector{"aten::split_with_sizes_copy", 1, Result::like_first},
    Vector{"aten::sqrt", 1, Result::same},
    Vector{"aten::std", 1, Result::unknown},
    Vector{"aten::sub", 2, Result::same},
    Vector{"aten::sum", 1, Result::unknown},
    Vector{"aten::tanh", 1, Result::same},
    Vector{"aten::tanh_backward", 2, Result::same},
    Vector{"aten::threshold_backward", 2, Result::same},
    Vector{"aten::tril", 1, Result::same},
    Vector{"aten::triu", 1, Result::same},
    Vector{"aten::uniform_", 1, Result::overwrite},
    Vector{"aten::var", 1, Result::unknown},
    Vector{"aten::where", 3, Result::same},
    Vector{"aten::zero_", 1, Result::overwrite},
};
// clang-format on

static_assert(std::is_sorted(kVectors.begin(), kVectors.end(),
                             [](const Vector& a, const Vector& b) { return a.name < b.name; }));

using Tensors = std::vector<const OperatorInput*>;

double bytes_of(const OperatorInput& tensor) { return tensor.elements() * tensor.type->bytes; }

// Extents of the inputs broadcast against each other; 0 where they do not fit.
double broadcast_elements(const Tensors& tensors) {
  Extents reversed;
  for (const OperatorInput* tensor : tensors) {
    const Extents& e = tensor->extents;
    if (reversed.size() < e.size()) reversed.resize(e.size(), 1);
    for (std::size_t i = 0; i < e.size(); i++) {
      std::int64_t& here = reversed[i];
      const std::int64_t other = e[e.size() - 1 - i];
      if (here != other && here != 1 && other != 1) return 0;
      if (here == 1) here = other;
    }
  }
  return num_elements(reversed);
}

// PyTorch's promotion: the highest kind decides, within it the widest type; tensors without dimensions only count
// among themselves, or when their kind is higher.
double promoted_bytes(const Tensors& tensors) {
  const ElementType* best = nullptr;
  bool best_has_extents = false;
  for (const OperatorInput* tensor : tensors) {
    const ElementType& type = *tensor->type;
    const bool has_extents = !tensor->extents.empty();
    const bool higher =
        best == nullptr || type.kind > best->kind || (type.kind == best->kind && has_extents && !best_has_extents);
    const bool equal = best != nullptr && type.kind == best->kind && has_extents == best_has_extents;
    if (higher || (equal && type.bytes > best->bytes)) {
      best = &type;
      best_has_extents = has_extents;
    }
  }
  return best == nullptr ? 0 : best->bytes;
}

std::optional<double> row_bytes(const OperatorInput& table, const OperatorInput& indices) {
  if (table.extents.empty()) return std::nullopt;
  const double row = num_elements(std::span(table.extents).subspan(1)) * table.type->bytes;
  return bytes_of(indices) + 2 * indices.elements() * row;
}

std::optional<double> traffic(Result result, bool in_place, const Tensors& tensors) {
  double read = 0;
  for (const OperatorInput* tensor : tensors) read += bytes_of(*tensor);
  const OperatorInput& first = *tensors.front();
  if (in_place && result != Result::unknown) return read + bytes_of(first);
  switch (result) {
    case Result::same:
    case Result::boolean: {
      const double elements = broadcast_elements(tensors);
      if (elements <= 0) return std::nullopt;
      return read + elements * (result == Result::boolean ? 1 : promoted_bytes(tensors));
    }
    case Result::like_first:
      return read + bytes_of(first);
    case Result::unknown:
    case Result::overwrite:
      return read;
    case Result::with_mask:
      return read + bytes_of(first) + first.elements();
    case Result::rows:
      return tensors.size() == 2 ? row_bytes(first, *tensors[1]) : std::nullopt;
    case Result::elements:
      if (tensors.size() != 2) return std::nullopt;
      return bytes_of(*tensors[1]) + 2 * tensors[1]->elements() * first.type->bytes;
  }
  return std::nullopt;
}

}  // namespace

WorkAnswer vector_work(std::string_view name, const OperatorInputs& inputs) {
  const Vector* rule = find_rule(kVectors, name);
  const bool in_place = rule == nullptr && name.ends_with('_');
  if (in_place) rule = find_rule(kVectors, name.substr(0, name.size() - 1));
  if (rule == nullptr) return {};
  if (!inputs.has_types) return {true, std::nullopt};
  Tensors tensors;
  for (const OperatorInput& input : inputs.arguments) {
    if (!input.list.empty()) return {true, std::nullopt};  // the types of a list are not recorded
    if (input.is_tensor && tensors.size() < rule->num_tensors) tensors.push_back(&input);
  }
  if (tensors.empty()) return {true, std::nullopt};
  const auto bytes = traffic(rule->result, in_place, tensors);
  if (!bytes || !(*bytes > 0)) return {true, std::nullopt};
  return {true, Work{0, *bytes, PeakKind::none}};
}

}  // namespace chopper
