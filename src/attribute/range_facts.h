// SPDX-License-Identifier: Apache-2.0
// What the name of a host range says: phase, layer, operation, collective, iteration mark, module (attribution.md 2 to
// 8).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/class_rules.h"
#include "catalog/operation_maps.h"
#include "catalog/phase_rules.h"
#include "model/trace.h"

namespace chopper {

/// A module frame's class and the number of its instance.
struct ModuleName {
  std::string_view class_name;
  std::int32_t instance = -1;
};
/// "nn.Module: LlamaMLP_3" to LlamaMLP and 3.
std::optional<ModuleName> module_of(std::string_view name);

/// An iteration mark.
struct MarkName {
  MarkKind kind = MarkKind::none;
  std::int64_t number = kNoNumber;
};
MarkName mark_of(std::string_view name, std::string_view user_mark);

/// The first numbered element of a module path: "model.layers.12.mlp" to 12. The path is the whole name, or what
/// follows " for ", or stands in brackets at its end.
std::string_view module_path_of(std::string_view name);
std::optional<std::int32_t> layer_of_path(std::string_view path);
/// "Layer12", "layer_12", "Block<12>".
std::optional<std::int32_t> layer_of_annotation(std::string_view name);

/// Kind of a collective by the words of an operator, annotation, kernel or metadata; empty when there are none.
std::string_view collective_kind(std::string_view name);

/// What a range's name says.
struct RangeFacts {
  bool optimizer = false, forward = false, backward = false;
  bool engine = false;      ///< a node of the autograd engine
  bool accumulate = false;  ///< accumulates gradients
  bool clip = false;        ///< begins a clipping of gradients
  bool copy = false;        ///< packs or unpacks communication buffers
  bool param_comms = false;
  bool root = false;            ///< the forward pass of the whole model
  bool optimizer_step = false;  ///< the step itself
  bool before_node = false;     ///< a hook that runs before a node of the engine
  bool prefetch = false;        ///< gathers ahead of use
  bool module = false;
  bool mark = false;             ///< delimits iterations: no operation
  bool custom_function = false;  ///< backward node of a C++ function with a gradient of its own
  std::int32_t layer = kUnknownLayer;
  LabelRule layer_rule = LabelRule::none;
  StringId operation = kNoString;  ///< in the table of operations
  LabelRule operation_rule = LabelRule::none;
  StringId path_end = kNoString;  ///< last part of a module path, in the table of operations
  StringId kind = kNoString;      ///< of a collective, in the table of operations
  StringId module_class = kNoString;
  std::int32_t module_instance = -1;
};

/// Computes the facts of a name on first use. Not thread-safe, but for names that are known already.
class RangeNames {
 public:
  RangeNames(const StringTable& names, const ClassRules& classes, const PhaseRules& phases, const OperationMaps& maps,
             StringTable& operations);
  const RangeFacts& facts(StringId name, RangeKind kind);
  /// Facts of all ranges, in order of their rows.
  void learn(const HostRangeTable& ranges);

 private:
  RangeFacts compute(std::string_view name, RangeKind kind);
  void read_operation(std::string_view name, RangeFacts& facts);

  const StringTable& names_;
  const ClassRules& classes_;
  const PhaseRules& phases_;
  const OperationMaps& maps_;
  StringTable& operations_;
  static constexpr std::size_t kNumKinds = 3;
  std::vector<std::int32_t> index_;  // by name and kind; -1: not computed
  std::deque<RangeFacts> facts_;     // references stay valid
};

}  // namespace chopper
