// SPDX-License-Identifier: Apache-2.0
// Names the kernels of a pass by their order: the machines of data/operations (attribution.md 7, "known sequences").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/operation_maps.h"
#include "model/trace.h"

namespace chopper {

/// A piece of work of a pass, in order of launch.
struct SequenceItem {
  FeatureSet features = 0;
  std::uint32_t pass = 0;          ///< items of one pass are neighbours and share it
  StringId operation = kNoString;  ///< known already, in the table of operations; the machine follows it
};

struct SequenceLabel {
  StringId operation = kNoString;
  std::int32_t layer = kUnknownLayer;  ///< from 0 in each pass; kOutsideLayers
};

struct SequenceResult {
  std::vector<SequenceLabel> labels;  ///< one an item
  std::size_t num_layers = 0;         ///< blocks entered
  std::size_t num_labelled = 0;
};

/// Runs one machine over the items. Names go into `operations`.
SequenceResult run_sequence(const KernelSequence& sequence, std::span<const SequenceItem> items,
                            StringTable& operations);

/// What a kernel does, by the name of its innermost operator (may be empty), its own name and class.
FeatureSet features_of(const FeatureRules& rules, std::string_view operator_name, std::string_view kernel_name,
                       GpuClass gpu_class);

}  // namespace chopper
