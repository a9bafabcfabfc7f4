// SPDX-License-Identifier: Apache-2.0
// Files of counters with a column for each counter, or of JSON, damaged in every place: the same result however the
// text is cut into pieces, and no value that the whole file does not hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ingest/format.h"
#include "support/random.h"
#include "support/sanitizer.h"
#include "support/trace_dump.h"

namespace chopper::test {
namespace {

const TraceFormat& format_called(std::string_view name) {
  for (std::size_t i = 0; i < kNumFormats; i++) {
    if (kFormats[i]->name == name) return *kFormats[i];
  }
  std::abort();
}

struct Input {
  const char* format;
  const char* folder;  ///< below tests/golden/counters
};
constexpr Input kInputs[] = {
    {"rocprof-csv", "rocprof/table_of_rocprof_1"},    {"rocprof-csv", "rocprof/table_of_rocprof_2_with_dies"},
    {"rocprof-csv", "rocprof/joined_passes"},         {"rocprof-csv", "rocprof/long_table"},
    {"rocprof-csv", "rocprof/machine_unknown_clock"}, {"rocprof-csv", "rocprof/rows"},
    {"rocprof-json", "rocprof_json/counters"},        {"rocprofv3-json", "sdk_json/counters"},
    {"rocprofv3-json", "sdk_json/keys_sorted"},       {"rocprofv3-json", "sdk_json/marks"},
};

std::string bytes_of(const Input& input) {
  const auto folder = std::filesystem::path(CHOPPER_SOURCE_DIR) / "tests/golden/counters" / input.folder;
  for (const char* name : {"input.csv", "input.json"}) {
    std::ifstream stream(folder / name, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!bytes.empty()) return bytes;
  }
  return {};
}

std::string check(const TraceFormat& format, const std::string& bytes) {
  const Reading whole = read_bytes(format, bytes, 0, 1);
  if (!whole.broken.empty()) return whole.broken;
  for (const std::size_t window : {std::size_t{1}, std::size_t{61}}) {
    const Reading pieces = read_bytes(format, bytes, window, 1);
    if (pieces.text != whole.text)
      return "window " + std::to_string(window) + ": " + difference(pieces.text, whole.text);
  }
  return {};
}

Result<TraceTables> read(const TraceFormat& format, const std::string& bytes) {
  return format.read([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input", {});
}

using Value = std::tuple<std::int64_t, std::string, double, std::string>;

// What a pass says, apart from where it stands.
std::multiset<Value> values_of(const TraceTables& tables) {
  std::multiset<Value> found;
  const CounterPass& pass = *tables.pass;
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    found.emplace(pass.dispatches.dispatch_id[pass.values.dispatch[i]],
                  std::string(pass.strings.view(pass.counters[pass.values.counter[i]])), pass.values.value[i],
                  std::to_string(pass.values.maximum[i]));
  }
  return found;
}

TEST(CounterRecords, EveryPrefixHoldsValuesOfTheWhole) {
  for (const Input& input : kInputs) {
    const TraceFormat& format = format_called(input.format);
    const std::string bytes = bytes_of(input);
    ASSERT_FALSE(bytes.empty()) << input.folder;
    const auto whole = read(format, bytes);
    ASSERT_TRUE(whole.ok()) << input.folder;
    const auto most = values_of(whole.value());
    // A row that is missing takes an instance away: sums over rows are those of other rows. Names can stand behind.
    const std::string_view folder = input.folder;
    const bool sums_rows =
        folder.ends_with("_dies") || folder.ends_with("long_table") || folder.ends_with("keys_sorted");
    for (std::size_t size = 0; size < bytes.size(); size += kPlaceStride * (bytes.size() > 3000 ? 3 : 1)) {
      const std::string prefix = bytes.substr(0, size);
      ASSERT_EQ(check(format, prefix), "") << input.folder << " cut to " << size;
      const auto cut = read(format, prefix);
      if (!cut.ok()) continue;
      const auto some = values_of(cut.value());
      ASSERT_TRUE(sums_rows || std::includes(most.begin(), most.end(), some.begin(), some.end()))
          << input.folder << " cut to " << size;
      ASSERT_LE(cut.value().facts.num_records, whole.value().facts.num_records) << input.folder << " cut to " << size;
      if (some.size() < most.size()) {
        ASSERT_GT(cut.value().health.count(HealthKind::truncated) + (folder.starts_with("rocprof/") ? 1 : 0), 0u)
            << input.folder << " cut to " << size;
      }
    }
  }
}

TEST(CounterRecords, EveryFlippedBitIsReadOrCounted) {
  Random random(11);
  for (const Input& input : kInputs) {
    const TraceFormat& format = format_called(input.format);
    const std::string bytes = bytes_of(input);
    for (std::size_t at = 0; at < bytes.size(); at += kPlaceStride * (bytes.size() > 3000 ? 3 : 1)) {
      std::string flipped = bytes;
      const std::size_t bit = random.below(8);
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1u << bit));
      ASSERT_EQ(check(format, flipped), "") << input.folder << ", bit " << bit << " of byte " << at;
    }
  }
}

TEST(CounterRecords, SeveralDamagesAreTheSameInPieces) {
  for (const Input& input : kInputs) {
    const TraceFormat& format = format_called(input.format);
    for (std::uint64_t seed = 1; seed <= 150; seed += kPlaceStride) {
      Random random(seed);
      std::string bytes = bytes_of(input);
      for (std::size_t i = 0; i <= random.below(5); i++) {
        const std::size_t at = random.below(bytes.size());
        constexpr std::string_view kBytes = "\"{}[],:\n0";
        if (random.chance(3)) {
          bytes.erase(at, random.below(40));
        } else {
          bytes[at] = kBytes[random.below(kBytes.size())];
        }
        if (bytes.empty()) bytes = "{";
      }
      ASSERT_EQ(check(format, bytes), "") << input.folder << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace chopper::test
