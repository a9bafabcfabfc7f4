// SPDX-License-Identifier: Apache-2.0
#include "attribute/modules.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace chopper {
namespace {

bool any_part(const std::vector<std::string>& parts, std::string_view name) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(),
                                      [&](const std::string& p) { return name.find(p) != std::string_view::npos; });
}

}  // namespace

ModuleLabels::ModuleLabels(const Stacks& stacks, const PhaseRules& phases, const OperationMaps& maps,
                           StringTable& operations)
    : block_(stacks.frames.size(), kNoIndex),
      operation_(stacks.frames.size(), kNoString),
      work_(stacks.frames.size(), 0) {
  if (stacks.frames.empty()) return;
  find_blocks(stacks, phases, operations);
  find_operations(stacks, maps, operations);
}

// Classes with several instances that hold no instance of themselves.
void ModuleLabels::find_blocks(const Stacks& stacks, const PhaseRules& phases, const StringTable& names) {
  const std::vector<ModuleFrame>& frames = stacks.frames;
  struct ClassFacts {
    std::set<std::int32_t> instances;
    std::set<StringId> holds;  // classes of the frames around its own: they hold it
  };
  std::map<StringId, ClassFacts> classes;
  for (const ModuleFrame& frame : frames) {
    ClassFacts& facts = classes[frame.class_name];
    if (facts.instances.size() < 2) facts.instances.insert(frame.instance);
    std::size_t depth = 0;  // models nest some twenty deep; damaged traces must not cost the square of their depth
    for (std::uint32_t up = frame.parent; up != kNoIndex && depth < 256; up = frames[up].parent, depth++)
      facts.holds.insert(frames[up].class_name);
  }
  std::vector<StringId> order;
  for (const auto& [name, facts] : classes) {
    const std::string_view text = names.view(name);
    const bool container = std::find(phases.container_classes.begin(), phases.container_classes.end(), text) !=
                           phases.container_classes.end();
    if (facts.instances.size() >= 2 && !container && !facts.holds.contains(name)) order.push_back(name);
  }
  // Classes called blocks before all others; of those the ones that no other holds.
  const auto is_called_block = [&](StringId name) {
    return any_part(phases.block_parts, names.view(name)) && !any_part(phases.not_block_parts, names.view(name));
  };
  if (std::any_of(order.begin(), order.end(), is_called_block))
    std::erase_if(order, [&](StringId name) { return !is_called_block(name); });
  std::set<StringId> chosen;
  for (const StringId name : order) {
    const bool held =
        std::any_of(order.begin(), order.end(), [&](StringId other) { return classes[name].holds.contains(other); });
    if (!held) chosen.insert(name);
  }
  for (std::size_t i = 0; i < frames.size(); i++) {  // parents come before their children
    block_[i] = chosen.contains(frames[i].class_name) ? static_cast<std::uint32_t>(i)
                : frames[i].parent == kNoIndex        ? kNoIndex
                                                      : block_[frames[i].parent];
  }
}

void ModuleLabels::find_operations(const Stacks& stacks, const OperationMaps& maps, StringTable& operations) {
  const std::vector<ModuleFrame>& frames = stacks.frames;
  // Which rules fit a class, once per class.
  std::unordered_map<StringId, std::vector<std::size_t>> rules_of_class;
  const auto rules_of = [&](StringId name) -> const std::vector<std::size_t>& {
    const auto [at, inserted] = rules_of_class.try_emplace(name);
    if (inserted) {
      for (std::size_t r = 0; r < maps.modules.size(); r++) {
        if (any_part(maps.modules[r].class_parts, operations.view(name))) at->second.push_back(r);
      }
    }
    return at->second;
  };
  // Instances of one class below one parent frame are numbered in order of their first call; a module called again
  // keeps its number.
  struct Siblings {
    std::map<std::size_t, std::map<std::pair<StringId, std::int32_t>, std::int64_t>> by_rule;  // place of each instance
  };
  std::unordered_map<std::uint32_t, Siblings> siblings;
  const auto instance_of = [&](const ModuleFrame& frame) { return std::make_pair(frame.class_name, frame.instance); };
  for (const ModuleFrame& frame : frames) {
    if (frame.parent == kNoIndex) continue;
    for (const std::size_t rule : rules_of(frame.class_name)) {
      auto& places = siblings[frame.parent].by_rule[rule];
      places.try_emplace(instance_of(frame), static_cast<std::int64_t>(places.size()));
    }
  }
  work_rules_.emplace_back();
  std::unordered_map<StringId, std::uint32_t> work_of_class;
  for (std::size_t i = 0; i < frames.size(); i++) {
    const auto [at, inserted] = work_of_class.try_emplace(frames[i].class_name, 0);
    if (inserted) {
      std::vector<WorkRule> rules;
      for (const std::size_t r : rules_of(frames[i].class_name)) {
        if (maps.modules[r].accepts != 0)
          rules.push_back({maps.modules[r].accepts, operations.intern(maps.modules[r].operation)});
      }
      if (!rules.empty()) {
        at->second = static_cast<std::uint32_t>(work_rules_.size());
        work_rules_.push_back(std::move(rules));
      }
    }
    work_[i] = at->second;
  }
  for (std::size_t i = 0; i < frames.size(); i++) {
    const ModuleFrame& frame = frames[i];
    // Containers are passed over: torchtitan and others wrap each block.
    const std::uint32_t parent = frame.parent;
    const std::string_view parent_class =
        parent == kNoIndex ? std::string_view() : operations.view(frames[parent].class_name);
    for (const std::size_t r : rules_of(frame.class_name)) {
      const ModuleRule& rule = maps.modules[r];
      if (rule.accepts != 0) continue;
      if (!rule.parent_parts.empty() && (parent == kNoIndex || !any_part(rule.parent_parts, parent_class))) continue;
      if (rule.index >= 0 || rule.of >= 0) {
        if (parent == kNoIndex) continue;
        const auto& places = siblings[parent].by_rule[r];
        if (rule.index >= 0 && places.at(instance_of(frame)) != rule.index) continue;
        if (rule.of >= 0 && static_cast<std::int64_t>(places.size()) != rule.of) continue;
      }
      operation_[i] = operations.intern(rule.operation);
      break;
    }
    const bool is_block = block_[i] == i;
    if (operation_[i] == kNoString && !is_block && parent != kNoIndex) operation_[i] = operation_[parent];
  }
}

}  // namespace chopper
