// SPDX-License-Identifier: Apache-2.0
// Matrix products. A product of [m, k] and [k, n] is 2mnk FLOPs; bytes are both operands, what is
// added to them, and the result, once each.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "analyze/work_rules.h"

namespace chopper {
namespace {

// How the arguments of an operator are arranged.
enum class Form : std::uint8_t {
  product,  // a, b; [m, k] x [k, n]
  added,    // c, a, b
  batched,  // a, b; [B, m, k] x [B, k, n]
  batched_added,
  summed,          // c, a, b of a batch, summed over it
  scaled,          // as product; results of narrow types are 2 bytes wide
  integer,         // as product; results are 4 bytes wide
  grouped,         // a, b, offsets at argument 2
  scaled_grouped,  // a, b, two scales, offsets at argument 4
  matmul,          // broadcast batches, vectors allowed
  linear,          // x [..., k], weight [n, k], bias
  vector,          // a [m, k], v [k]
  vector_added,
  dot
};

struct Product {
  std::string_view name;
  Form form;
};

// Sorted by name.
constexpr std::array kProducts = {
    Product{"aten::_addmm_activation", Form::added},
    Product{"aten::_grouped_mm", Form::grouped},
    Product{"aten::_int_mm", Form::integer},
    Product{"aten::_scaled_grouped_mm", Form::scaled_grouped},
    Product{"aten::_scaled_mm", Form::scaled},
    Product{"aten::addbmm", Form::summed},
    Product{"aten::addmm", Form::added},
    Product{"aten::addmm_", Form::added},
    Product{"aten::addmv", Form::vector_added},
    Product{"aten::addmv_", Form::vector_added},
    Product{"aten::baddbmm", Form::batched_added},
    Product{"aten::baddbmm_", Form::batched_added},
    Product{"aten::bmm", Form::batched},
    Product{"aten::dot", Form::dot},
    Product{"aten::linear", Form::linear},
    Product{"aten::matmul", Form::matmul},
    Product{"aten::mm", Form::product},
    Product{"aten::mv", Form::vector},
    Product{"aten::vdot", Form::dot},
    Product{"fbgemm::f8f8bf16_blockwise", Form::linear},
    Product{"fbgemm::f8f8bf16_rowwise", Form::linear},
    Product{"fbgemm::f8f8bf16_tensorwise", Form::linear},
    Product{"vllm::rocm_unquantized_gemm", Form::linear},
};

static_assert(std::is_sorted(kProducts.begin(), kProducts.end(),
                             [](const Product& a, const Product& b) { return a.name < b.name; }));

struct Matrix {
  Extents batch;
  double rows = 0, columns = 0;
};

// The last two extents, and what stands before them.
std::optional<Matrix> matrix_of(const Extents& extents) {
  if (extents.size() < 2) return std::nullopt;
  Matrix matrix;
  matrix.batch.assign(extents.begin(), extents.end() - 2);
  matrix.rows = static_cast<double>(extents[extents.size() - 2]);
  matrix.columns = static_cast<double>(extents.back());
  return matrix;
}

// Batches as NumPy broadcasts them; nullopt where they do not fit.
std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
  Extents result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); i++) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

// The bytes of these arguments and of `result_elements` of `result_bytes` each; 0 when a type is not recorded.
struct Traffic {
  const OperatorInputs& inputs;
  double bytes = 0;
  bool known = true;

  void add(std::size_t argument) {
    const OperatorInput& input = inputs.arguments[argument];
    if (!input.type) {
      known = false;
      return;
    }
    bytes += input.elements() * input.type->bytes;
  }
  double with_result(double elements, double element_bytes) const {
    return known ? bytes + elements * element_bytes : 0;
  }
};

bool is_tensor(const OperatorInputs& inputs, std::size_t argument) {
  return argument < inputs.arguments.size() && inputs.arguments[argument].is_tensor;
}

// A product of arguments a and b with `flops`, into `result_elements`. `added`: an argument that is added, or none.
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
std::optional<Work> product_work(const OperatorInputs& inputs, std::size_t a, std::size_t b, std::size_t added,
                                 double flops, double result_elements, double narrowest_result, bool tf32) {
  const auto& type = inputs.arguments[a].type;
  // A product of complex numbers is four of real ones, in types whose rate nobody quotes.
  if (type && type->kind == ElementKind::complex) return std::nullopt;
  Traffic traffic{inputs};
  traffic.add(a);
  traffic.add(b);
  if (added != kNone && is_tensor(inputs, added)) traffic.add(added);
  Work work;
  work.flops = flops;
  work.bytes = traffic.with_result(result_elements, type ? std::max(type->bytes, narrowest_result) : 0);
  work.peak = type ? peak_of(*type, tf32) : PeakKind::none;
  return work;
}

// [..., m, k] x [..., k, n] without broadcasting.
std::optional<Work> plain(const OperatorInputs& inputs, std::size_t a, std::size_t added, std::size_t num_batches,
                          bool summed, double narrowest_result, bool tf32) {
  const std::size_t b = a + 1;
  if (!is_tensor(inputs, a) || !is_tensor(inputs, b)) return std::nullopt;
  const auto x = matrix_of(inputs.arguments[a].extents);
  const auto y = matrix_of(inputs.arguments[b].extents);
  if (!x || !y || x->columns != y->rows || x->batch != y->batch || x->batch.size() != num_batches) return std::nullopt;
  const double batch = num_elements(x->batch);
  const double result = x->rows * y->columns;
  return product_work(inputs, a, b, added, 2 * batch * result * x->columns, summed ? result : batch * result,
                      narrowest_result, tf32);
}

std::optional<Work> broadcast_product(const OperatorInputs& inputs, bool tf32) {
  if (!is_tensor(inputs, 0) || !is_tensor(inputs, 1)) return std::nullopt;
  Extents a = inputs.arguments[0].extents, b = inputs.arguments[1].extents;
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const auto x = matrix_of(a), y = matrix_of(b);
  if (!x || !y || x->columns != y->rows) return std::nullopt;
  const auto batch = broadcast(x->batch, y->batch);
  if (!batch) return std::nullopt;
  const double result = num_elements(*batch) * x->rows * y->columns;
  return product_work(inputs, 0, 1, kNone, 2 * result * x->columns, result, 0, tf32);
}

std::optional<Work> linear(const OperatorInputs& inputs, bool tf32) {
  if (!is_tensor(inputs, 0) || !is_tensor(inputs, 1)) return std::nullopt;
  const Extents& x = inputs.arguments[0].extents;
  const Extents& weight = inputs.arguments[1].extents;
  if (x.empty() || weight.size() != 2 || x.back() != weight[1]) return std::nullopt;
  const double rows = num_elements(std::span(x).first(x.size() - 1));
  const double result = rows * static_cast<double>(weight[0]);
  // Products of 8-bit floats have results of 16.
  return product_work(inputs, 0, 1, 2, 2 * result * static_cast<double>(weight[1]), result, 2, tf32);
}

// A vector counts as a matrix of one column. `from`: where the matrix stands.
std::optional<Work> vector_product(const OperatorInputs& inputs, std::size_t from, bool tf32) {
  if (!is_tensor(inputs, from) || !is_tensor(inputs, from + 1)) return std::nullopt;
  const Extents& matrix = inputs.arguments[from].extents;
  const Extents& vector = inputs.arguments[from + 1].extents;
  if (vector.size() != 1 || matrix.empty() || matrix.back() != vector[0]) return std::nullopt;
  const double rows = num_elements(std::span(matrix).first(matrix.size() - 1));
  return product_work(inputs, from, from + 1, from == 0 ? kNone : 0, 2 * rows * static_cast<double>(vector[0]), rows, 0,
                      tf32);
}

// Groups of rows, of columns, or of the inner dimension, whose boundaries are data: together they cover all of it.
//   [T, k] x [G, k, n]: 2Tkn      [G, m, k] x [k, T]: 2mkT      [m, T] x [T, n]: 2mTn, G results
std::optional<Work> grouped(const OperatorInputs& inputs, std::size_t offsets, bool tf32) {
  if (!is_tensor(inputs, 0) || !is_tensor(inputs, 1)) return std::nullopt;
  const Extents& a = inputs.arguments[0].extents;
  const Extents& b = inputs.arguments[1].extents;
  if (a.size() < 2 || b.size() < 2 || a.size() > 3 || b.size() > 3) return std::nullopt;
  if (a.size() == 3 && b.size() == 3) return plain(inputs, 0, kNone, 1, false, 2, tf32);
  const auto x = matrix_of(a), y = matrix_of(b);
  if (!x || !y || x->columns != y->rows) return std::nullopt;
  double result = x->rows * y->columns;
  const double flops = 2 * result * x->columns;
  if (a.size() == 2 && b.size() == 2) {
    if (!is_tensor(inputs, offsets) || inputs.arguments[offsets].extents.size() != 1) return std::nullopt;
    result *= inputs.arguments[offsets].elements();
  }
  return product_work(inputs, 0, 1, kNone, flops, result, 2, tf32);
}

std::optional<Work> work_in(Form form, const OperatorInputs& inputs, bool tf32) {
  switch (form) {
    case Form::product:
      return plain(inputs, 0, kNone, 0, false, 0, tf32);
    case Form::added:
      return plain(inputs, 1, 0, 0, false, 0, tf32);
    case Form::batched:
      return plain(inputs, 0, kNone, 1, false, 0, tf32);
    case Form::batched_added:
      return plain(inputs, 1, 0, 1, false, 0, tf32);
    case Form::summed:
      return plain(inputs, 1, 0, 1, true, 0, tf32);
    case Form::scaled:
      return plain(inputs, 0, kNone, 0, false, 2, tf32);
    case Form::integer:
      return plain(inputs, 0, kNone, 0, false, 4, tf32);
    case Form::grouped:
      return grouped(inputs, 2, tf32);
    case Form::scaled_grouped:
      return grouped(inputs, 4, tf32);
    case Form::matmul:
      return broadcast_product(inputs, tf32);
    case Form::linear:
      return linear(inputs, tf32);
    case Form::vector:
      return vector_product(inputs, 0, tf32);
    case Form::vector_added:
      return vector_product(inputs, 1, tf32);
    case Form::dot:
      if (!is_tensor(inputs, 0) || inputs.arguments[0].extents.size() != 1) return std::nullopt;
      return vector_product(inputs, 0, tf32);
  }
  return std::nullopt;
}

}  // namespace

WorkAnswer matrix_work(std::string_view name, const OperatorInputs& inputs, const WorkAssumptions& assumptions) {
  const Product* found = find_rule(kProducts, name);
  if (found == nullptr) return {};
  return {true, work_in(found->form, inputs, assumptions.tf32_products)};
}

}  // namespace chopper
