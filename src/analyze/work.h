// SPDX-License-Identifier: Apache-2.0
// The work of an operator from its name and the recorded shapes and types of its inputs: algorithmic FLOPs of matrix
// products and attention, and the least bytes that must move. What does not follow from the shapes is unknown, never
// guessed (docs/reference/flops.md has the rules).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyze/bound.h"
#include "base/string_table.h"
#include "catalog/gpus.h"

namespace chopper {

/// The rate that limits the FLOPs.
enum class PeakKind : std::uint8_t { none, bf16, fp8, tf32, fp32, fp64 };
std::string_view to_string(PeakKind peak);

struct Work {
  double flops = 0;                ///< of matrix products and attention; 0 for everything else
  double bytes = 0;                ///< each operand and the result once; 0: not known
  PeakKind peak = PeakKind::none;  ///< none: no FLOPs, or a type whose rate is not known
  friend bool operator==(const Work&, const Work&) = default;
};

/// What inputs do not tell.
struct WorkAssumptions {
  /// Attention without a mask of its own that does not say whether it is causal: of equal lengths above 1 it computes
  /// half the scores, of several queries and more keys no one knows how many.
  bool causal = true;
  bool tf32_products = false;  ///< products of floats run in TF32 (PyTorch's default: convolutions alone)
};

/// Returns the work of one call of the operator; nullopt when its name is not known or its shapes do not tell. Ask for
/// the innermost operator around a launch only: the outer ones hold the same work again. `shapes`, `types` and `values`
/// are the JSON texts of "Input Dims", "Input type" and "Concrete Inputs", empty where not recorded.
std::optional<Work> work_of(std::string_view operator_name, std::string_view shapes, std::string_view types,
                            const WorkAssumptions& assumptions = {}, std::string_view values = {});

/// work_of for operators of one trace, computed once for each distinct (name, shapes, types, values). Not thread-safe.
class WorkCache {
 public:
  explicit WorkCache(const StringTable& strings, const WorkAssumptions& assumptions = {})
      : strings_(strings), assumptions_(assumptions) {}

  /// All but `name` may be kNoString. The reference holds until the next call.
  const std::optional<Work>& work_of(StringId name, StringId shapes, StringId types, StringId values);

 private:
  struct Key {
    StringId name, shapes, types, values;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  const StringTable& strings_;
  WorkAssumptions assumptions_;
  std::unordered_map<Key, std::optional<Work>, KeyHash> known_;
};

struct LeastTime {
  double ns = 0;
  Bound bound = Bound::compute;
};

/// FLOP/s of `gpu` at its quoted clock; TF32 falls back to FP32 where there is none. nullopt where it is not known.
std::optional<double> peak_flops(PeakKind peak, const GpuSpec& gpu);

/// The longer of FLOPs at peak rate and bytes at peak bandwidth. nullopt when there are FLOPs whose rate is not known,
/// or neither is known.
std::optional<LeastTime> least_ns(const Work& work, const GpuSpec& gpu);

}  // namespace chopper
