// SPDX-License-Identifier: Apache-2.0
#include "attribute/classes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace chopper {
namespace {

using Patterns = std::vector<std::string>;

bool any_exact(const Patterns& patterns, std::string_view name) {
  return std::find(patterns.begin(), patterns.end(), name) != patterns.end();
}
bool any_prefix(const Patterns& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return name.starts_with(p); });
}
bool any_contains(const Patterns& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return name.find(p) != std::string_view::npos; });
}

// `name` without the words that say nothing about its class.
std::string without(const Patterns& words, std::string_view name) {
  std::string rest(name);
  for (const std::string& word : words) {
    for (std::size_t at = rest.find(word); at != std::string::npos; at = rest.find(word, at))
      rest.erase(at, word.size());
  }
  return rest;
}

std::string_view without_void(std::string_view name) { return name.starts_with("void ") ? name.substr(5) : name; }

// What a name alone says; computed once per distinct name.
struct KernelNameFacts {
  enum class Memory : std::uint8_t { no, copy, fill } memory = Memory::no;
  bool comm = false;
  GpuClass split = GpuClass::other;
};

KernelNameFacts kernel_name_facts(const ClassRules& rules, std::string_view name) {
  KernelNameFacts facts;
  if (any_prefix(rules.copy_prefix, name)) facts.memory = KernelNameFacts::Memory::copy;
  if (any_prefix(rules.fill_prefix, name)) facts.memory = KernelNameFacts::Memory::fill;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  facts.comm = any_prefix(rules.comm_kernel_prefix_nocase, without_void(lower)) ||
               any_contains(rules.comm_kernel_contains_nocase, lower);
  lower = without(rules.kernel_ignore_nocase, lower);
  if (any_contains(rules.kernel_vector_first_contains_nocase, lower)) {
    facts.split = GpuClass::vector;
  } else if (any_contains(rules.kernel_attention_contains_nocase, lower) ||
             any_prefix(rules.kernel_attention_prefix_nocase, without_void(lower))) {
    facts.split = GpuClass::attention;
  } else if (any_contains(rules.kernel_gemm_contains_nocase, lower) ||
             any_prefix(rules.kernel_gemm_prefix_nocase, without_void(lower))) {
    facts.split = GpuClass::gemm;
  } else if (any_contains(rules.kernel_vector_contains_nocase, lower)) {
    facts.split = GpuClass::vector;
  }
  return facts;
}

std::optional<GpuClass> operator_class(const ClassRules& rules, std::string_view name) {
  if (any_prefix(rules.operator_vector_first_prefix, name)) return GpuClass::vector;
  const std::string telling = without(rules.operator_ignore, name);
  if (any_contains(rules.operator_attention_contains, telling)) return GpuClass::attention;
  if (any_exact(rules.operator_gemm_exact, name) || any_contains(rules.operator_gemm_contains, telling))
    return GpuClass::gemm;
  if (any_prefix(rules.operator_vector_prefix, name)) return GpuClass::vector;
  return std::nullopt;
}

bool is_comm_range(const ClassRules& rules, std::string_view name) {
  return any_exact(rules.comm_operator_exact, name) || any_prefix(rules.comm_operator_prefix, name);
}

// Computes a fact of a name on first use.
template <class T, class F>
class PerName {
 public:
  PerName(const StringTable& strings, F compute)
      : strings_(strings), compute_(std::move(compute)), facts_(strings.size()) {}
  const T& operator()(StringId name) {
    std::optional<T>& fact = facts_[index_of(name)];
    if (!fact) fact = compute_(strings_.view(name));
    return *fact;
  }

 private:
  const StringTable& strings_;
  F compute_;
  std::vector<std::optional<T>> facts_;
};
template <class T, class F>
PerName<T, F> per_name(const StringTable& strings, F compute) {
  return PerName<T, F>(strings, std::move(compute));
}

}  // namespace

bool is_copy_range(const ClassRules& rules, std::string_view range_name) {
  return any_exact(rules.copy_range_exact, range_name) || any_prefix(rules.copy_range_prefix, range_name);
}

void classify_gpu_work(const TraceTables& trace, const ClassRules& rules, GpuWorkLabels& labels) {
  const GpuWorkTable& gpu = trace.gpu_work;
  auto kernel_facts =
      per_name<KernelNameFacts>(trace.strings, [&](std::string_view n) { return kernel_name_facts(rules, n); });
  auto op_class =
      per_name<std::optional<GpuClass>>(trace.strings, [&](std::string_view n) { return operator_class(rules, n); });
  auto comm_range = per_name<bool>(trace.strings, [&](std::string_view n) { return is_comm_range(rules, n); });
  for (std::size_t i = 0; i < num_rows(gpu); i++) {
    const auto classify = [&]() -> GpuClass {
      if (gpu.collective[i] != kNoRow) {
        const std::int64_t size = trace.collectives.group_size[index_of(gpu.collective[i])];
        if (size == kNoNumber || size > 1) return GpuClass::comm;
      }
      if (gpu.category[i] == GpuCategory::memcpy) return GpuClass::memcpy;
      if (gpu.category[i] == GpuCategory::memset) return GpuClass::memset;
      const KernelNameFacts& facts = kernel_facts(gpu.name[i]);
      if (facts.memory == KernelNameFacts::Memory::copy) return GpuClass::memcpy;
      if (facts.memory == KernelNameFacts::Memory::fill) return GpuClass::memset;
      if (facts.comm) return GpuClass::comm;
      for (const RowId range : {labels.range[i], labels.operation_range[i]}) {
        if (range != kNoRow && comm_range(trace.ranges.name[index_of(range)])) return GpuClass::comm;
      }
      if (labels.operation_range[i] != kNoRow) {
        const std::optional<GpuClass> by_operator = op_class(trace.ranges.name[index_of(labels.operation_range[i])]);
        if (by_operator) return *by_operator;
      }
      return facts.split;
    };
    labels.gpu_class[i] = classify();
    if (labels.gpu_class[i] == GpuClass::comm) labels.comm_copy[i] = 0;
  }
}

GpuClass class_of_kernel_name(const ClassRules& rules, std::string_view name) {
  const KernelNameFacts facts = kernel_name_facts(rules, name);
  if (facts.memory == KernelNameFacts::Memory::copy) return GpuClass::memcpy;
  if (facts.memory == KernelNameFacts::Memory::fill) return GpuClass::memset;
  return facts.comm ? GpuClass::comm : facts.split;
}

}  // namespace chopper
