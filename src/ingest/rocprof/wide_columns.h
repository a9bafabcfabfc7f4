// SPDX-License-Identifier: Apache-2.0
// The tables of rocprof before version 3 and of rocprof-compute (Omniperf): a row is a dispatch, and whatever column is
// no property of a dispatch is a counter. Told by the names in the header, which changed with the releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/rocprof/columns.h"

namespace chopper::rocprof {

/// What a table is.
enum class WideKind : std::uint8_t {
  counters,       ///< a row a dispatch, a column a counter
  long_counters,  ///< a row a dispatch and counter, as rocprof-compute writes them since ROCm 7
  kernel_times,   ///< no counter, but times
  dispatch_list,  ///< neither
  system,         ///< the machine as rocprof-compute describes it: sysinfo.csv
  peaks,          ///< what its benchmark measured: roofline.csv
  incomplete,     ///< dispatches without names
  other
};

/// Where the columns of a table of dispatches stand.
struct WideColumns {
  struct Place {
    std::size_t column;
    Number number;
  };
  /// A column of a counter. Several belong to one counter where it has a column for each instance: "TCC_HIT[3]".
  struct Cell {
    std::size_t column;
    std::size_t slot;
  };
  std::vector<Place> numbers;               ///< in order of column
  std::vector<Cell> cells;                  ///< in order of column
  std::vector<std::string> counters;        ///< names by slot, in order of appearance
  std::vector<std::uint8_t> has_instances;  ///< by slot
  std::size_t device = kNoColumn, kernel_name = kNoColumn, die = kNoColumn;
  std::size_t counter_name = kNoColumn, counter_value = kNoColumn;
  bool has_times = false;
  bool counts_gpus = false;  ///< devices are numbers of gpus ("gpu-id"); else it depends on the release
};

/// Takes "TCC_HIT[3]", an instance of "TCC_HIT", apart. Returns whether the name is one of an instance; else `counter`
/// is the whole name. What joined passes put behind the bracket stays: "TCC_HIT[3]_2" is of "TCC_HIT_2".
bool split_instance(std::string_view name, std::string& counter);

WideKind wide_kind_of(std::span<const std::string> header);
WideColumns wide_columns(std::span<const std::string> header);

/// Writers whose header this is.
std::string_view wide_writer_of(WideKind kind, std::span<const std::string> header);

/// Why a table of this kind is not read, and what to give instead; nullopt for those that are.
std::optional<Error> wide_refusal(WideKind kind, std::span<const std::string> header, std::string_view shown);
/// Why a list of dispatches that has rows is not read.
Error refusal_of_dispatch_list(std::string_view shown);

}  // namespace chopper::rocprof
