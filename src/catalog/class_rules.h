// SPDX-License-Identifier: Apache-2.0
// The name patterns that decide the class of a gpu record (data/classes.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// Lists as in data/classes.toml, which explains each. Lists named `*_nocase` hold lower case.
struct ClassRules {
  std::vector<std::string> copy_prefix, fill_prefix;
  std::vector<std::string> comm_kernel_prefix_nocase, comm_kernel_contains_nocase;
  std::vector<std::string> comm_operator_exact, comm_operator_prefix;
  std::vector<std::string> copy_range_exact, copy_range_prefix;
  std::vector<std::string> operator_ignore, kernel_ignore_nocase;
  std::vector<std::string> operator_vector_first_prefix, kernel_vector_first_contains_nocase;
  std::vector<std::string> operator_attention_contains, operator_gemm_exact, operator_gemm_contains,
      operator_vector_prefix;
  std::vector<std::string> kernel_attention_contains_nocase, kernel_attention_prefix_nocase,
      kernel_gemm_contains_nocase, kernel_gemm_prefix_nocase, kernel_vector_contains_nocase;
};

/// Parses the text of a classes.toml. Fails on malformed TOML and on unknown or missing lists.
Result<ClassRules> parse_class_rules(std::string_view toml);

/// The rules this build ships.
Result<ClassRules> embedded_class_rules();

}  // namespace chopper
