// SPDX-License-Identifier: Apache-2.0
// Kernel names as different producers write them, brought to one form (docs/reference/alignment.md, 2).
//   void f<int, (anonymous namespace)::g >(float*)   the profiler of PyTorch
//   f<int,(anonymous namespace)::g>(float *) [clone .kd]   another demangler
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chopper {

/// The name without what demanglers differ in: white space that separates nothing, a leading "void ", a trailing ".kd"
/// and "[clone ...]", endings of integers ("8u", "8ul"), casts of template arguments ("(int)8", "(bool)1") and inline
/// namespaces of the standard libraries.
std::string normalise_kernel_name(std::string_view name);

/// A normalised name up to the first "<" or "(" that stands for arguments; "(anonymous namespace)" does not, nor the
/// "<" of an operator.
std::string_view kernel_stem(std::string_view normalised);

/// Numbers of names, equal where they mean the same kernel.
struct NameKeys {
  std::vector<std::uint32_t> first, second;  ///< one for each name of each side
  std::size_t num_by_stem = 0;               ///< pairs of names that are equal up to their stem only
};

/// Compares the distinct names of both sides: normalised names first; then, of the names that the other side does not
/// have, those whose stem no other name of either side has.
NameKeys match_kernel_names(std::span<const std::string_view> first, std::span<const std::string_view> second);

}  // namespace chopper
