// SPDX-License-Identifier: Apache-2.0
#include "base/string_table.h"

#include <cstring>

#include "base/wide_integer.h"

namespace chopper {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

std::uint64_t load8(const char* p) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, 8);
  return v;
}

// Folds a 128-bit product: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Hashes all bytes: kernel names often differ only in the middle of a long template argument, so sampling would
// collide.
std::uint64_t hash_of(std::string_view s) {
  constexpr std::uint64_t k0 = 0xa0761d6478bd642full;
  constexpr std::uint64_t k1 = 0xe7037ed1a0b428dbull;
  const char* p = s.data();
  std::size_t n = s.size();
  std::uint64_t h = k0 ^ n;
  for (; n > 16; p += 16, n -= 16) h = mix(load8(p) ^ k1, load8(p + 8) ^ h);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (n >= 8) {
    a = load8(p);
    b = load8(p + n - 8);
  } else if (n > 0) {
    std::memcpy(&a, p, n);
  }
  return mix(a ^ k1, b ^ h);
}

}  // namespace

StringTable::StringTable() : slots_(1024, 0) {}

std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto upper = static_cast<std::uint32_t>(hash >> 32);
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const std::uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == upper && entries_[id] == text) return slot;
    slot = (slot + 1) & mask;
  }
  return slot;
}

StringId StringTable::find(std::string_view text) const {
  const std::size_t slot = slot_of(text, hash_of(text));
  return slots_[slot] == 0 ? kNoString : StringId{slots_[slot] - 1};
}

StringId StringTable::intern(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) return StringId{slots_[slot] - 1};
  entries_.push_back(store(text));
  hashes_.push_back(static_cast<std::uint32_t>(hash >> 32));
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  const StringId id{slots_[slot] - 1};
  if (entries_.size() * 2 > slots_.size()) grow();
  return id;
}

void StringTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); i++) {
    std::size_t slot = hash_of(entries_[i]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::string_view StringTable::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    const std::size_t size = text.size() > kBlockBytes / 4 ? text.size() : kBlockBytes;
    blocks_.push_back(std::make_unique<char[]>(size));
    stored_bytes_ += size;
    if (size != kBlockBytes) {  // a long text gets a block of its own; the open block stays open
      std::memcpy(blocks_.back().get(), text.data(), text.size());
      return {blocks_.back().get(), text.size()};
    }
    block_next_ = blocks_.back().get();
    block_left_ = size;
  }
  std::memcpy(block_next_, text.data(), text.size());
  const std::string_view stored{block_next_, text.size()};
  block_next_ += text.size();
  block_left_ -= text.size();
  return stored;
}

std::size_t StringTable::memory_bytes() const {
  return stored_bytes_ + entries_.capacity() * sizeof(std::string_view) + (hashes_.capacity() + slots_.capacity()) * 4;
}

}  // namespace chopper
