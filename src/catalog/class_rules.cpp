// SPDX-License-Identifier: Apache-2.0
#include "catalog/class_rules.h"

#include <array>

#include "catalog/embedded_data.h"
#include "catalog/named_lists.h"

namespace chopper {
namespace {

constexpr std::array<NamedList<ClassRules>, 21> kLists = {{
    {"memory", "copy_prefix", &ClassRules::copy_prefix},
    {"memory", "fill_prefix", &ClassRules::fill_prefix},
    {"communication", "kernel_prefix_nocase", &ClassRules::comm_kernel_prefix_nocase},
    {"communication", "kernel_contains_nocase", &ClassRules::comm_kernel_contains_nocase},
    {"communication", "operator_exact", &ClassRules::comm_operator_exact},
    {"communication", "operator_prefix", &ClassRules::comm_operator_prefix},
    {"comm_copy", "range_exact", &ClassRules::copy_range_exact},
    {"comm_copy", "range_prefix", &ClassRules::copy_range_prefix},
    {"operator_class", "ignore", &ClassRules::operator_ignore},
    {"kernel_class", "ignore_nocase", &ClassRules::kernel_ignore_nocase},
    {"operator_class", "vector_first_prefix", &ClassRules::operator_vector_first_prefix},
    {"kernel_class", "vector_first_contains_nocase", &ClassRules::kernel_vector_first_contains_nocase},
    {"operator_class", "attention_contains", &ClassRules::operator_attention_contains},
    {"operator_class", "gemm_exact", &ClassRules::operator_gemm_exact},
    {"operator_class", "gemm_contains", &ClassRules::operator_gemm_contains},
    {"operator_class", "vector_prefix", &ClassRules::operator_vector_prefix},
    {"kernel_class", "attention_contains_nocase", &ClassRules::kernel_attention_contains_nocase},
    {"kernel_class", "attention_prefix_nocase", &ClassRules::kernel_attention_prefix_nocase},
    {"kernel_class", "gemm_contains_nocase", &ClassRules::kernel_gemm_contains_nocase},
    {"kernel_class", "gemm_prefix_nocase", &ClassRules::kernel_gemm_prefix_nocase},
    {"kernel_class", "vector_contains_nocase", &ClassRules::kernel_vector_contains_nocase},
}};

}  // namespace

Result<ClassRules> parse_class_rules(std::string_view text) {
  return read_named_lists<ClassRules>(text, kLists, "classes.toml");
}

Result<ClassRules> embedded_class_rules() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "classes.toml") return parse_class_rules(kEmbeddedFiles[i].text);
  }
  return Error{ErrorCode::internal, "classes.toml is not in this build", "", "rebuild"};
}

}  // namespace chopper
