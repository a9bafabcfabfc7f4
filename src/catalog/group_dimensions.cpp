// SPDX-License-Identifier: Apache-2.0
#include "catalog/group_dimensions.h"

#include <algorithm>
#include <array>

#include "catalog/embedded_data.h"
#include "catalog/named_lists.h"

namespace chopper {
namespace {

constexpr std::array<NamedList<GroupDimensionRules>, 5> kLists = {{
    {"data", "words", &GroupDimensionRules::data_words},
    {"tensor", "words", &GroupDimensionRules::tensor_words},
    {"pipeline", "words", &GroupDimensionRules::pipeline_words},
    {"context", "words", &GroupDimensionRules::context_words},
    {"expert", "words", &GroupDimensionRules::expert_words},
}};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (is_letter(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

Result<GroupDimensionRules> parse_group_dimension_rules(std::string_view toml) {
  return read_named_lists<GroupDimensionRules>(toml, kLists, "group_dimensions.toml");
}

Result<GroupDimensionRules> embedded_group_dimension_rules() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "group_dimensions.toml") return parse_group_dimension_rules(kEmbeddedFiles[i].text);
  }
  return Error{ErrorCode::internal, "group_dimensions.toml is not in this build", "", "rebuild"};
}

std::string_view dimension_of_name(const GroupDimensionRules& rules, std::string_view description) {
  const std::vector<std::string> words = words_of(description);
  for (const NamedList<GroupDimensionRules>& dimension : kLists) {
    const std::vector<std::string>& telling = rules.*dimension.list;
    for (const std::string& word : words) {
      if (std::find(telling.begin(), telling.end(), word) != telling.end()) return dimension.table;
    }
  }
  return {};
}

}  // namespace chopper
