// SPDX-License-Identifier: Apache-2.0
// Interned strings: each distinct text is kept once and named by a small id. Not thread-safe; every worker has its own
// table and tables are merged at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace chopper {

/// Names a string of one StringTable.
enum class StringId : std::uint32_t {};
inline constexpr StringId kNoString{0xffffffffu};

constexpr std::uint32_t index_of(StringId id) { return static_cast<std::uint32_t>(id); }

/// A set of strings with stable ids 0, 1, 2, ... in order of insertion; views stay valid for the life of the table.
class StringTable {
 public:
  StringTable();

  /// Returns the id of `text`, inserting it when it is new.
  StringId intern(std::string_view text);
  /// Returns the id of `text`, or kNoString when it was never inserted.
  StringId find(std::string_view text) const;
  std::string_view view(StringId id) const { return entries_[index_of(id)]; }
  std::size_t size() const { return entries_.size(); }
  std::size_t memory_bytes() const;

 private:
  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();
  std::string_view store(std::string_view text);

  std::vector<std::string_view> entries_;
  std::vector<std::uint32_t> hashes_;  // upper half of each entry's hash: a cheap filter before comparing text
  std::vector<std::uint32_t> slots_;   // id + 1, 0 = free; open addressing, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
  std::size_t stored_bytes_ = 0;
};

}  // namespace chopper
