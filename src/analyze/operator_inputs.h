// SPDX-License-Identifier: Apache-2.0
// What a trace records of an operator's inputs, as PyTorch writes it:
//   "Input Dims": [[8192, 4096], [4096, 14336], [], [[2, 3], [4]]]   "Input type": ["c10::BFloat16", "float", "Scalar",
//   "TensorList"]   "Concrete Inputs": ["", "", "0.", "True"]
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace chopper {

/// Order matters: results of mixed inputs have the highest kind.
enum class ElementKind : std::uint8_t { boolean, integer, floating, complex };

/// Type of the elements of a tensor.
struct ElementType {
  ElementKind kind = ElementKind::floating;
  double bytes = 0;
  std::string_view name;  ///< as PyTorch's C++ names it: "c10::BFloat16"
};

/// Returns the element type called `name`; nullopt for what is no tensor ("Scalar", "TensorList", "", ...).
std::optional<ElementType> element_type(std::string_view name);

using Extents = std::vector<std::int64_t>;

/// Product of the extents: 1 for no extents.
double num_elements(std::span<const std::int64_t> extents);

/// One argument of an operator.
struct OperatorInput {
  Extents extents;            ///< of a tensor; empty for scalars and everything else
  std::vector<Extents> list;  ///< of the tensors of a list
  bool is_tensor = false;     ///< a tensor, of no dimensions too; without types: one with at least one dimension
  std::optional<ElementType> type;
  double elements() const { return num_elements(extents); }
};

struct OperatorInputs {
  std::vector<OperatorInput> arguments;
  bool has_types = false;
  std::string_view values;  ///< "Concrete Inputs" as written; empty: not recorded
};

/// The n-th argument if it is a tensor; nullptr where it is none, or n is negative: no such argument.
const OperatorInput* tensor_at(const OperatorInputs& inputs, int n);

/// The n-th text of a JSON list of texts, without its quotes; empty when there is none. Escapes stay as they are.
std::string_view text_in_list(std::string_view list, std::size_t n);

/// Parses both texts; `types` may be empty: not recorded. nullopt when either is malformed, holds a negative or absurd
/// number, or the two differ in length.
std::optional<OperatorInputs> parse_operator_inputs(std::string_view shapes, std::string_view types);

}  // namespace chopper
