// SPDX-License-Identifier: Apache-2.0
// Module frames: which classes are the repeated blocks, and which operation a frame is (attribution.md 6 and 7).
#pragma once

#include <cstdint>
#include <vector>

#include "attribute/stacks.h"
#include "catalog/operation_maps.h"
#include "catalog/phase_rules.h"

namespace chopper {

class ModuleLabels {
 public:
  ModuleLabels(const Stacks& stacks, const PhaseRules& phases, const OperationMaps& maps, StringTable& operations);

  /// The innermost frame at or outside `frame` that is a block, or kNoIndex.
  std::uint32_t block_of(std::uint32_t frame) const { return frame == kNoIndex ? kNoIndex : block_[frame]; }
  /// The operation a map gives the innermost frame, or one around it up to its block; kNoString when none does.
  StringId operation_of(std::uint32_t frame) const { return frame == kNoIndex ? kNoString : operation_[frame]; }
  /// What a map makes of work that the innermost frame does itself.
  struct WorkRule {
    FeatureSet accepts = 0;
    StringId operation = kNoString;
  };
  const std::vector<WorkRule>& work_rules_of(std::uint32_t frame) const { return work_rules_[work_[frame]]; }

 private:
  void find_blocks(const Stacks& stacks, const PhaseRules& phases, const StringTable& names);
  void find_operations(const Stacks& stacks, const OperationMaps& maps, StringTable& operations);

  std::vector<std::uint32_t> block_;
  std::vector<StringId> operation_;
  std::vector<std::uint32_t> work_;                // by frame: index into work_rules_
  std::vector<std::vector<WorkRule>> work_rules_;  // by class; 0: none
};

}  // namespace chopper
