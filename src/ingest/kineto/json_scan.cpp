// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/json_scan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace chopper {
namespace {

// One bit per byte of a 64-byte block.
struct BlockMasks {
  std::uint64_t quote = 0;
  std::uint64_t backslash = 0;
  std::uint64_t open = 0;   // { and [
  std::uint64_t close = 0;  // } and ]
};

#if defined(__AVX2__)
std::uint64_t equal_mask(__m256i low, __m256i high, char c) {
  const __m256i needle = _mm256_set1_epi8(c);
  const auto a = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, needle)));
  const auto b = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, needle)));
  return std::uint64_t{b} << 32 | a;
}

BlockMasks classify(const char* p) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  // Bit 5 is the only difference between '[' and '{', and between ']' and '}'.
  const __m256i fold = _mm256_set1_epi8(0x20);
  const __m256i low_folded = _mm256_or_si256(low, fold);
  const __m256i high_folded = _mm256_or_si256(high, fold);
  return {equal_mask(low, high, '"'), equal_mask(low, high, '\\'), equal_mask(low_folded, high_folded, '{'),
          equal_mask(low_folded, high_folded, '}')};
}
#else
BlockMasks classify(const char* p) {
  BlockMasks masks;
  for (int i = 0; i < 64; i++) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = p[i];
    if (c == '"') masks.quote |= bit;
    if (c == '\\') masks.backslash |= bit;
    if ((c | 0x20) == '{') masks.open |= bit;
    if ((c | 0x20) == '}') masks.close |= bit;
  }
  return masks;
}
#endif

// Bit i of the result is the exclusive or of bits 0..i: turns quote positions into string insides.
std::uint64_t prefix_xor(std::uint64_t bits) {
#if defined(__PCLMUL__)
  const __m128i product =
      _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), _mm_set1_epi8('\xff'), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
#else
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
#endif
}

// Bytes escaped by an odd run of backslashes before them; `carry` is 1 when the first byte of the block is escaped.
std::uint64_t escaped_bytes(std::uint64_t backslash, std::uint64_t& carry) {
  if (backslash == 0) {
    const std::uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  constexpr std::uint64_t kOddBits = 0xaaaaaaaaaaaaaaaaull;
  const std::uint64_t potential = backslash & ~carry;
  const std::uint64_t maybe_escaped = potential << 1;
  const std::uint64_t maybe_escaped_and_odd = maybe_escaped | kOddBits;
  const std::uint64_t even_series_codes_and_odd = maybe_escaped_and_odd - potential;
  const std::uint64_t escape_and_terminal = even_series_codes_and_odd ^ kOddBits;
  const std::uint64_t escaped = escape_and_terminal ^ (backslash | carry);
  carry = (escape_and_terminal & backslash) >> 63;
  return escaped;
}

}  // namespace

ElementScan scan_elements(std::string_view text, bool first_only) {
  ElementScan result;
  std::uint64_t in_string = 0;  // all ones inside a string
  std::uint64_t escape_carry = 0;
  std::int64_t depth = 0;
  std::size_t previous_end = 0;
  char tail[64];
  for (std::size_t at = 0; at < text.size(); at += 64) {
    const char* block = text.data() + at;
    if (text.size() - at < 64) {  // the last block, padded with blanks
      std::memset(tail, ' ', sizeof tail);
      std::memcpy(tail, block, text.size() - at);
      block = tail;
    }
    const BlockMasks masks = classify(block);
    const std::uint64_t escaped = escaped_bytes(masks.backslash, escape_carry);
    const std::uint64_t quotes = masks.quote & ~escaped;
    const std::uint64_t strings = prefix_xor(quotes) ^ in_string;
    in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    const std::uint64_t open = masks.open & ~strings;
    const std::uint64_t close = masks.close & ~strings;
    const auto closes = static_cast<std::int64_t>(std::popcount(close));
    if (depth - closes > 0 || closes == 0) {  // depth cannot reach zero in this block
      depth += static_cast<std::int64_t>(std::popcount(open)) - closes;
      continue;
    }
    for (std::uint64_t bits = open | close; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      if ((open >> bit & 1) != 0) {
        depth++;
        continue;
      }
      depth--;
      if (depth > 0) continue;
      if (depth < 0) {
        result.closed_at = at + bit;
        return result;
      }
      const std::size_t end = at + bit + 1;
      if (result.first_end == 0) result.first_end = end;
      result.longest = std::max(result.longest, end - previous_end);
      previous_end = end;
      result.last_end = end;
      if (first_only) return result;
    }
  }
  return result;
}

}  // namespace chopper
