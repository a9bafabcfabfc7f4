// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_budget.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <system_error>

namespace chopper {
namespace {

constexpr std::uint64_t kEveryReader = std::uint64_t{24} << 20;
constexpr std::uint64_t kLeastCompression = 10;

// The length of the text as the last four bytes of a gzip file say; 0 for other files. Of several members it is that of
// the last one, and of long texts what is left of 4 GiB.
std::uint64_t stated_length(std::ifstream& file, std::uint64_t file_bytes) {
  constexpr std::uint64_t kLeastGzip = 18;
  std::array<unsigned char, 4> bytes{};
  const auto read = [&](std::uint64_t at, std::size_t num) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(num));
    return static_cast<bool>(file);
  };
  if (file_bytes < kLeastGzip || !read(0, 2) || bytes[0] != 0x1f || bytes[1] != 0x8b || !read(file_bytes - 4, 4))
    return 0;
  std::uint64_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8 | bytes[i];
  return length;
}

bool is_zstd(std::ifstream& file) {
  std::array<char, 4> magic{};
  file.clear();
  file.seekg(0);
  file.read(magic.data(), magic.size());
  return file && magic == std::array<char, 4>{'\x28', '\xb5', '\x2f', '\xfd'};
}

}  // namespace

std::uint64_t reading_bytes(const std::filesystem::path& path) {
  std::error_code error;
  std::uint64_t text = std::filesystem::file_size(path, error);
  if (error) return kEveryReader;
  std::ifstream file(path, std::ios::binary);
  const std::uint64_t stated = stated_length(file, text);
  if (stated > 0 || is_zstd(file)) text = std::max(stated, text * kLeastCompression);
  return text / 5 * 2 + kEveryReader;
}

std::size_t files_at_once(std::vector<std::uint64_t> needs, std::uint64_t limit) {
  if (limit == 0) return std::max<std::size_t>(1, needs.size());
  std::sort(needs.begin(), needs.end(), std::greater<>());  // if the largest fit together, all others do
  std::size_t num = 0;
  for (std::uint64_t taken = 0; num < needs.size() && needs[num] <= limit - taken; num++) taken += needs[num];
  return std::max<std::size_t>(1, num);
}

}  // namespace chopper
