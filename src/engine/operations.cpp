// SPDX-License-Identifier: Apache-2.0
#include "engine/operations.h"

#include <map>

#include "catalog/operation_maps.h"

namespace chopper {

Result<std::string> describe_operations() {
  CHOPPER_TRY(const OperationMaps maps, embedded_operation_maps());
  std::string text = "maps (data/operations; --operations FILE adds one)\n";
  const auto pad = [](std::string word, std::size_t width) {
    if (word.size() < width) word.resize(width, ' ');
    return word;
  };
  for (const OperationMaps::Map& map : maps.maps) {
    std::string holds;
    const auto count = [&](std::size_t number, const char* what) {
      if (number > 0) holds += (holds.empty() ? "" : ", ") + std::to_string(number) + " " + what;
    };
    count(map.num_paths, "module paths");
    count(map.num_modules, "module frames");
    count(map.num_sequences, "sequences");
    text += "  " + pad(map.name, 12) + map.summary + (holds.empty() ? "" : " (" + holds + ")") + "\n";
  }
  std::map<std::string, std::string> paths;  // of each operation
  for (const auto& [end, operation] : maps.paths) paths[operation] += (paths[operation].empty() ? "" : ", ") + end;
  std::map<std::string, std::string> ranges;
  for (const auto& [prefix, operation] : maps.ranges)
    ranges[operation] += (ranges[operation].empty() ? "" : ", ") + prefix;
  text += "\noperations: names that annotations may use, with or without f_ and b_; ends of module paths; ranges\n";
  for (const std::string& name : maps.canonical) {
    std::string line = "  " + pad(name, 14);
    if (paths.contains(name)) line += paths[name];
    if (ranges.contains(name)) line += (paths.contains(name) ? "; " : "") + ranges[name];
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  text += "\naliases:";
  for (const auto& [alias, prefix] : maps.alias_prefixes) text += " " + alias + " = " + prefix;
  return text + "\n";
}

}  // namespace chopper
