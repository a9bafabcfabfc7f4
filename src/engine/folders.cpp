// SPDX-License-Identifier: Apache-2.0
#include "engine/folders.h"

#include <filesystem>

namespace chopper {

Folders::Folders(const std::vector<InputSummary>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const std::filesystem::path path(inputs[i].full_path);
    const auto at = inputs_.try_emplace(path.parent_path().string()).first;
    at->second.push_back(i);
    folder_of_.push_back(&at->second);
    name_of_.push_back(path.filename().string());
  }
}

}  // namespace chopper
