// SPDX-License-Identifier: Apache-2.0
#include "engine/copied_passes.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_source.h"

namespace chopper {
namespace {

// Pieces of a file as it is, or of its text; nothing at the end, and where it cannot be read.
using Pieces = std::function<std::size_t(std::span<char>)>;

bool same_pieces(const Pieces& a, const Pieces& b) {
  std::vector<char> p(std::size_t{1} << 16), q(p.size());
  while (true) {
    const std::size_t size = a(p);
    if (b(q) != size || !std::equal(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(size), q.begin())) return false;
    if (size == 0) return true;
  }
}

Pieces bytes_of(std::ifstream& file) {
  return [&file](std::span<char> out) {
    file.read(out.data(), static_cast<std::streamsize>(out.size()));
    return static_cast<std::size_t>(file.gcount());
  };
}

// Sources fill what they are given up to the end of the text.
Pieces text_of(ByteSource& source) {
  return [&source](std::span<char> out) {
    const Result<std::size_t> size = source.read(out);
    return size.ok() ? size.value() : 0;
  };
}

// Whether one is the other compressed: the same text in files of another size.
bool have_same_text(const InputSummary& a, const InputSummary& b) {
  if (a.facts.file_bytes == b.facts.file_bytes || a.facts.text_bytes != b.facts.text_bytes) return false;
  const Result<std::unique_ptr<ByteSource>> x = open_byte_source(a.full_path), y = open_byte_source(b.full_path);
  return x.ok() && y.ok() && same_pieces(text_of(*x.value()), text_of(*y.value()));
}

bool have_same_bytes(const InputSummary& a, const InputSummary& b) {
  if (a.facts.file_bytes != b.facts.file_bytes) return false;
  std::ifstream x(a.full_path, std::ios::binary), y(b.full_path, std::ios::binary);
  return x && y && same_pieces(bytes_of(x), bytes_of(y));
}

}  // namespace

std::string copy_of(const InputSummary& original, const InputSummary& other) {
  if (have_same_bytes(original, other)) return "same bytes as " + original.path;
  return have_same_text(original, other) ? "same text as " + original.path : std::string();
}

void drop_copied_passes(std::vector<InputSummary>& inputs, HealthLog& health) {
  // By length of the text and number of values.
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::size_t>> kept_of;
  std::vector<InputSummary> kept;
  for (InputSummary& input : inputs) {
    if (!input.pass || input.pass->num_values == 0) {
      kept.push_back(std::move(input));
      continue;
    }
    std::vector<std::size_t>& alike = kept_of[{input.facts.text_bytes, input.pass->num_values}];
    std::string copy;
    for (const std::size_t k : alike) {
      if (kept[k].facts.rank == input.facts.rank) copy = copy_of(kept[k], input);
      if (!copy.empty()) break;
    }
    if (!copy.empty()) {
      health.add(HealthKind::duplicate_file, input.path, copy);
      continue;
    }
    alike.push_back(kept.size());
    kept.push_back(std::move(input));
  }
  inputs = std::move(kept);
}

}  // namespace chopper
