// SPDX-License-Identifier: Apache-2.0
// Databases of profilers, damaged in every place: a file cut anywhere or with any byte changed is read as far as it
// goes, with the loss counted, or refused with what to do; what is read is the same from a file as from memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ingest/format.h"
#include "support/database.h"
#include "support/random.h"
#include "support/sanitizer.h"
#include "support/trace_dump.h"

namespace chopper::test {
namespace {

const TraceFormat& format_named(std::string_view name) {
  for (std::size_t i = 0; i < kNumFormats; i++) {
    if (kFormats[i]->name == name) return *kFormats[i];
  }
  std::abort();
}

struct Sample {
  std::string format;
  std::string bytes;
};

// Small pages, so that every table has several and every kind of page is there.
std::vector<Sample> samples() {
  const std::string page = "PRAGMA page_size=512;";
  std::string many;
  for (int i = 0; i < 60; i++) {
    many += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(5000 + i * 10) + ", " +
            std::to_string(5008 + i * 10) + ", 0, 7, " + std::to_string(i + 9) +
            ", 100 << 24, 3, 4, 8, 2, 1, 128, 1, 1);";
  }
  return {{"rocpd", database_of(page + rocpd_tables("_0a", "0a") + rocpd_rows("_0a", 500))},
          {"nsight-systems", database_of(page + nsight_tables() + many)},
          {"rpd", database_of(page + rpd_tables())}};
}

std::string check(const TraceFormat& format, const std::string& bytes) {
  const Reading reading = read_bytes(format, bytes, 0, 1);
  if (!reading.broken.empty()) return reading.broken;
  if (!reading.text.starts_with("error ")) return {};
  return reading.text.find('(') == std::string::npos ? "an error without a remedy: " + reading.text : std::string();
}

TEST(Databases, AreClaimedByOneFormat) {
  for (const Sample& sample : samples()) {
    for (std::size_t i = 0; i < kNumFormats; i++) {
      const TraceFormat& format = *kFormats[i];
      const Confidence expected = format.name == sample.format ? Confidence::yes : Confidence::no;
      const Confidence head = format.sniff(sample.bytes);
      if (format.look == nullptr) {
        EXPECT_EQ(head, Confidence::no) << format.name;
        continue;
      }
      EXPECT_EQ(head == Confidence::yes, expected == Confidence::yes) << format.name << " of " << sample.format;
      const auto looked =
          format.look([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(sample.bytes); },
                      "input", ReadOptions());
      ASSERT_TRUE(looked.ok());
      EXPECT_EQ(looked.value(), expected) << format.name << " of " << sample.format;
    }
  }
}

TEST(Databases, CutAnywhereAreReadOrRefused) {
  for (const Sample& sample : samples()) {
    const TraceFormat& format = format_named(sample.format);
    for (std::size_t size = 0; size < sample.bytes.size();
         size += kPlaceStride * (size < 1024 || size % 512 > 500 ? 1 : 37))
      ASSERT_EQ(check(format, sample.bytes.substr(0, size)), "") << sample.format << " cut to " << size;
  }
}

// Of a whole number of pages that hold the list of tables, rows are read, and a loss is never silent.
TEST(Databases, CutBetweenPagesAreReadWithTheLossCounted) {
  for (const Sample& sample : samples()) {
    const TraceFormat& format = format_named(sample.format);
    const std::string whole = read_bytes(format, sample.bytes, 0, 1).text;
    std::size_t num_read = 0;
    for (std::size_t size = 512; size < sample.bytes.size(); size += 512) {
      const std::string text = read_bytes(format, sample.bytes.substr(0, size), 0, 1).text;
      if (text.starts_with("error ")) continue;
      num_read++;
      if (text.find("health damaged_table") != std::string::npos) continue;
      // Only pages that are no part of what is read may be missing: all but the size is as it was.
      const auto tables = [](const std::string& all) { return all.substr(0, all.find("\nfacts ")); };
      EXPECT_EQ(tables(text), tables(whole)) << sample.format << " cut to " << size;
    }
    EXPECT_GT(num_read, 3u) << sample.format;
  }
}

// Every byte of the first page, every fourth or so of the others.
TEST(Databases, AnyByteChangedIsReadOrRefused) {
  Random random(11);
  for (const Sample& sample : samples()) {
    const TraceFormat& format = format_named(sample.format);
    for (std::size_t at = 0; at < sample.bytes.size(); at += kPlaceStride * (1 + random.below(at < 512 ? 1 : 8))) {
      std::string bytes = sample.bytes;
      const std::size_t bit = random.below(8);
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << bit));
      ASSERT_EQ(check(format, bytes), "") << sample.format << ", bit " << bit << " of byte " << at;
    }
  }
}

TEST(Databases, PagesInPlacesOfOthersAreReadOrRefused) {
  for (std::uint64_t seed = 1; seed <= 600; seed++) {
    Random random(seed);
    static const std::vector<Sample> all = samples();
    const Sample& sample = random.pick(all);
    std::string bytes = sample.bytes;
    const std::size_t num_pages = bytes.size() / 512, num_damages = 1 + random.below(4);
    for (std::size_t i = 0; i < num_damages; i++) {
      const std::size_t from = random.below(num_pages), to = 1 + random.below(num_pages - 1);
      switch (random.below(3)) {
        case 0:
          bytes.replace(to * 512, 512, bytes, from * 512, 512);
          break;
        case 1:
          bytes.replace(to * 512, 512, 512, '\0');
          break;
        default:  // pointers of a page lead to one of its like
          for (int k = 0; k < 4; k++)
            bytes[to * 512 + random.below(512)] = static_cast<char>(random.below(num_pages) + 1);
      }
    }
    ASSERT_EQ(check(format_named(sample.format), bytes), "") << sample.format << ", seed " << seed;
  }
}

TEST(Databases, AreTheSameFromAFile) {
  std::string name = (std::filesystem::temp_directory_path() / "chopper_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  for (const Sample& sample : samples()) {
    for (const std::size_t size : {sample.bytes.size(), sample.bytes.size() * 3 / 4 / 512 * 512}) {
      const std::filesystem::path path = folder / sample.format;
      const std::string bytes = sample.bytes.substr(0, size);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      ReadOptions options;
      options.path = path;
      const auto result = format_named(sample.format).read([&] { return open_byte_source(path); }, "input", options);
      const std::string text = result.ok() ? Dumper(result.value()).dump() : "error " + result.error().text() + "\n";
      EXPECT_EQ(text, read_bytes(format_named(sample.format), bytes, 0, 1).text) << sample.format;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace chopper::test
