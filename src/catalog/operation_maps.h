// SPDX-License-Identifier: Apache-2.0
// How annotations, module paths, module classes and sequences of kernels become names of operations (data/operations).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace chopper {

/// What a kernel does, one bit each; `vector` is all that computes and is neither gemm nor attention.
enum class Feature : std::uint8_t {
  gemm,
  attention,
  vector,
  bmm,
  embedding,
  activation,
  multiply,
  add,
  copy,
  softmax,
  loss,
  fused,
  count_
};
inline constexpr std::size_t kNumFeatures = static_cast<std::size_t>(Feature::count_);
using FeatureSet = std::uint32_t;
constexpr FeatureSet bit(Feature feature) { return FeatureSet{1} << static_cast<unsigned>(feature); }

/// Words that tell features, from data/operations/features.toml.
struct FeatureRules {
  std::map<std::string, FeatureSet, std::less<>> operators;      ///< operator without "aten::"
  std::map<std::string, FeatureSet, std::less<>> fused_words;    ///< word of a fused kernel's name
  std::vector<std::pair<std::string, FeatureSet>> kernel_parts;  ///< part of a kernel's name in lower case; first match
};

/// A state of a sequence; llama.toml explains the fields.
struct SequenceState {
  std::string name, operation;
  FeatureSet accepts = 0, rejects = 0, followed_by = 0, ahead = 0, before = 0;
  std::int64_t max = INT64_MAX;
  std::vector<std::vector<std::string>> by_count;  ///< names for 1, 2, ... kernels
  std::vector<std::size_t> next;                   ///< indices of states
  bool entry = false, layer = false;
};

/// A machine over the kernels of a pass.
struct KernelSequence {
  std::string map;  ///< file it comes from
  bool backward = false;
  std::vector<SequenceState> states;
};

/// A module frame that is an operation.
struct ModuleRule {
  std::vector<std::string> class_parts, parent_parts;  ///< no parts: any
  std::int64_t index = -1, of = -1;                    ///< -1: any
  FeatureSet accepts = 0;  ///< work of the module itself with one of these; 0: all work in it
  std::string operation;
};

/// All maps of this build and of the user, in order of file name.
struct OperationMaps {
  struct Map {
    std::string name, summary;
    std::size_t num_paths = 0, num_modules = 0, num_sequences = 0;
  };
  std::vector<Map> maps;
  std::vector<std::string> canonical;
  std::vector<std::pair<std::string, std::string>> alias_prefixes;  ///< "fc_", "mlp_"
  std::vector<std::pair<std::string, std::string>> ranges;          ///< prefix of a range's name, operation
  std::vector<std::pair<std::string, std::string>> paths;           ///< end of a module path, operation; longest first
  std::vector<ModuleRule> modules;
  std::vector<KernelSequence> sequences;
  FeatureRules features;
};

/// Adds the text of one map; `name` is the stem of its file. Fails on malformed TOML, unknown keys and states.
Result<Done> add_operation_map(OperationMaps& maps, std::string_view toml, std::string_view name);

/// Adds the maps this build ships, in order of name. What was added before is looked at first.
Result<Done> add_embedded_operation_maps(OperationMaps& maps);
/// Only the maps this build ships.
Result<OperationMaps> embedded_operation_maps();

}  // namespace chopper
