// SPDX-License-Identifier: Apache-2.0
// Counters of the hardware as data (data/counters/*.toml): what each counts, in which unit, on which architectures, and
// how many of its block fit into one pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/units.h"

namespace chopper {

/// A counter as profilers name it.
struct CounterSpec {
  std::string name;                        ///< "GRBM_GUI_ACTIVE", "sm__cycles_elapsed.max"
  std::string vendor;                      ///< "amd" or "nvidia"
  std::vector<std::string> architectures;  ///< that have it
  std::string block;                       ///< part of the hardware that counts; empty: no limit is known
  std::string unit_text;
  Unit unit;
  bool has_instances = true;        ///< false: profilers tell one value, which is used as it is
  std::vector<std::string> labels;  ///< other names in files: "Elapsed Cycles"
  std::string summary, source;
};

/// A part of the hardware with a number of counter registers.
struct BlockSpec {
  std::string name, vendor;
  std::vector<std::string> architectures;
  std::int64_t limit = 0;              ///< counters in a pass
  std::int64_t instances_per_xcc = 0;  ///< expected; 0: not known
};

/// All counters of this build and of the user; those of the user come first.
struct CounterCatalog {
  std::vector<CounterSpec> counters;
  std::vector<BlockSpec> blocks;
  std::vector<std::string> architectures;   ///< in order of the files: gfx908 ... sm_120
  std::vector<std::string> check_counters;  ///< one that every pass repeats, of each file that names one

  const CounterSpec* find(std::string_view name, std::string_view architecture) const;
  const BlockSpec* find_block(std::string_view name, std::string_view architecture) const;
};

/// Returns "amd" for gfx..., "nvidia" for sm_..., else empty.
std::string_view vendor_of_architecture(std::string_view architecture);

/// Adds the `[[counter]]` and `[[block]]` tables of one text; other keys are left to others. `file` is named in errors.
Result<Done> add_counters(CounterCatalog& catalog, std::string_view toml, std::string_view file);

/// Adds what this build ships, in order of name.
Result<Done> add_embedded_counters(CounterCatalog& catalog);

}  // namespace chopper
