// SPDX-License-Identifier: Apache-2.0
// The small tables of a rocpd database, which rows of the large ones name by id. An id is of one guid: files that were
// merged count their rows each from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/sqlite/database.h"
#include "model/counters.h"

namespace chopper::rocpd {

/// An id within the file of a guid.
struct Key {
  std::uint32_t guid = 0;
  std::int64_t id = 0;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = (static_cast<std::uint64_t>(key.id) ^ std::uint64_t{key.guid} << 40) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};
template <class T>
using Map = std::unordered_map<Key, T, KeyHash>;

/// The tables of one kind: "rocpd_kernel_dispatch" and whatever follows its name, or only the views of that name.
struct TableSet {
  struct Member {
    const sqlite::Relation* relation;
    std::string suffix;  ///< stands for the guid where rows have none
  };
  std::vector<Member> members;
};
TableSet find_tables(const sqlite::Database& database, std::string_view base);

/// What is known of a kernel symbol.
struct KernelSymbol {
  std::string name;
  std::int64_t num_vgpr = kNoNumber, num_accum_vgpr = kNoNumber, num_sgpr = kNoNumber;
};

/// Ids resolved.
struct Dictionary {
  std::vector<std::string> guids;
  Map<std::string> strings;
  Map<std::int64_t> processes;  ///< to the pid
  Map<std::int64_t> threads;    ///< to the tid
  Map<std::string> counters;
  Map<KernelSymbol> kernels;
  Map<std::string> agents;  ///< to how dispatches name their gpu
  std::optional<std::string> host;

  /// Number of the guid in a cell, or of the suffix where there is none.
  std::uint32_t guid(std::string_view text, std::string_view suffix);

 private:
  std::uint32_t last_ = 0;
};

/// Calls `row` for every row of the tables, with the guid it is of. `columns` begins with {"guid"}.
void for_each_row(const sqlite::Database& database, std::string_view shown, HealthLog& health, Dictionary& dictionary,
                  const TableSet& tables, std::span<const sqlite::Column> columns,
                  const std::function<void(const sqlite::Scan&, std::uint32_t guid)>& row,
                  std::string_view condition = {});

/// Reads the small tables; facts about agents go to the pass. Every row read is added to `num_records`.
Dictionary read_dictionary(const sqlite::Database& database, std::string_view shown, CounterPass& pass,
                           HealthLog& health, std::uint64_t& num_records);

}  // namespace chopper::rocpd
