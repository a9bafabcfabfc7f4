// SPDX-License-Identifier: Apache-2.0
// Tables of counters, damaged in every place: the same result however the text is cut into pieces, no row used twice
// or lost without a count, and no value that the whole table does not hold.
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

const TraceFormat& csv_format() {
  for (std::size_t i = 0; i < kNumFormats; i++) {
    if (kFormats[i]->name == "rocprofv3-csv") return *kFormats[i];
  }
  std::abort();
}

Result<TraceTables> read(const std::string& bytes, std::size_t window = 0) {
  ReadOptions options;
  options.window_bytes = window;
  return csv_format().read([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input",
                           options);
}

// One table a header that a release of ROCm wrote.
std::vector<std::pair<std::string, std::string>> generations() {
  std::vector<std::pair<std::string, std::string>> found;
  const std::filesystem::path folder = std::filesystem::path(CHOPPER_SOURCE_DIR) / "tests/golden/counters";
  for (const char* part : {"generations", "damage"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / part)) {
      std::ifstream stream(entry.path() / "input.csv", std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
      if (!bytes.empty()) found.emplace_back(entry.path().filename().string(), bytes);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

using Value = std::tuple<std::int64_t, std::string, std::string, std::string, double>;

// What a pass says, apart from where it stands.
std::multiset<Value> values_of(const TraceTables& tables) {
  std::multiset<Value> found;
  const CounterPass& pass = *tables.pass;
  const auto name = [&](std::uint32_t dispatch) {
    return std::string(pass.strings.view(pass.kernels[pass.dispatches.kernel[dispatch]].name));
  };
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    const std::uint32_t d = pass.values.dispatch[i];
    found.emplace(pass.dispatches.dispatch_id[d], name(d), pass.devices[pass.dispatches.device[d]].text,
                  std::string(pass.strings.view(pass.counters[pass.values.counter[i]])), pass.values.value[i]);
  }
  return found;
}

// Rows that were used or counted as set aside, lost or repeated; all there were.
std::uint64_t accounted(const TraceTables& tables) {
  using enum HealthKind;
  const CounterPass& pass = *tables.pass;
  std::uint64_t sum = pass.content == PassContent::counters       ? num_rows(pass.values)
                      : pass.content == PassContent::marks        ? num_rows(pass.marks)
                      : pass.content == PassContent::kernel_times ? num_rows(pass.dispatches)
                                                                  : pass.agents.size();
  for (const HealthKind kind : {unreadable_row, short_row, unreadable_value, missing_value, conflicting_value,
                                repeated_row, negative_duration, time_overflow, zero_timestamp, truncated})
    sum += tables.health.count(kind);
  return sum;
}

std::string check(const std::string& bytes) {
  const Reading whole = read_bytes(csv_format(), bytes, 0, 1);
  if (!whole.broken.empty()) return whole.broken;
  for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    const Reading pieces = read_bytes(csv_format(), bytes, window, 1);
    if (pieces.text != whole.text)
      return "window " + std::to_string(window) + ": " + difference(pieces.text, whole.text);
  }
  const auto result = read(bytes);
  if (result.ok() && accounted(result.value()) != result.value().facts.num_records)
    return "rows: " + std::to_string(accounted(result.value())) + " of " +
           std::to_string(result.value().facts.num_records);
  return {};
}

TEST(CounterTables, EveryPrefixHoldsValuesOfTheWhole) {
  const auto all = generations();
  ASSERT_GT(all.size(), 25u);
  for (const auto& [name, bytes] : all) {
    const auto whole = read(bytes);
    for (std::size_t size = 0; size < bytes.size(); size += kPlaceStride) {
      const std::string prefix = bytes.substr(0, size);
      ASSERT_EQ(check(prefix), "") << name << " cut to " << size;
      const auto cut = read(prefix);
      if (!cut.ok() || !whole.ok()) continue;
      const auto some = values_of(cut.value()), most = values_of(whole.value());
      // A joined or conflicting row of the whole can take a value away, so values of the first kind alone are compared.
      if (whole.value().health.count(HealthKind::unreadable_row) > 0) continue;
      ASSERT_TRUE(std::includes(most.begin(), most.end(), some.begin(), some.end())) << name << " cut to " << size;
      ASSERT_LE(cut.value().facts.num_records, whole.value().facts.num_records + 3) << name << " cut to " << size;
    }
  }
}

TEST(CounterTables, EveryFlippedBitIsReadOrCounted) {
  Random random(7);
  for (const auto& [name, bytes] : generations()) {
    for (std::size_t at = 0; at < bytes.size(); at += kPlaceStride) {
      std::string flipped = bytes;
      const std::size_t bit = random.below(8);
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1u << bit));
      ASSERT_EQ(check(flipped), "") << name << ", bit " << bit << " of byte " << at;
    }
  }
}

TEST(CounterTables, AFlippedByteCostsTwoRowsAtMost) {
  const std::string header = "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n";
  std::string bytes = header;
  for (int i = 0; i < 40; i++)
    bytes += std::to_string(i) + ",\"Agent 4\",\"void f<int>(int, int)\",\"SQ_WAVES\"," + std::to_string(100 + i) +
             ".000000\n";
  const auto whole = values_of(read(bytes).value());
  Random random(3);
  for (std::size_t at = header.size(); at < bytes.size(); at++) {
    std::string flipped = bytes;
    flipped[at] = random.chance(3) ? '"' : random.chance(2) ? '\n' : ',';
    const auto result = read(flipped);
    ASSERT_TRUE(result.ok()) << at;
    const auto left = values_of(result.value());
    std::vector<Value> missing;
    std::set_difference(whole.begin(), whole.end(), left.begin(), left.end(), std::back_inserter(missing));
    ASSERT_LE(missing.size(), 2u) << "byte " << at << " is " << flipped[at];
  }
}

TEST(CounterTables, AreTheSameInPiecesWhenGeneratedAndDamaged) {
  for (std::uint64_t seed = 1; seed <= 300; seed += kPlaceStride) {
    Random random(seed);
    std::string bytes = "\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n";
    const std::size_t num_rows_written = random.below(60);
    for (std::size_t i = 0; i < num_rows_written; i++) {
      bytes += std::to_string(random.below(20)) + ",\"GPU " + std::to_string(random.below(3)) + "\",\"k" +
               std::string(random.below(30), random.chance(9) ? '\n' : 'x') + (random.chance(7) ? "\"\"" : "") +
               "\",\"C" + std::to_string(random.below(4)) + "\"," + std::to_string(random.below(1000)) + ".000000\n";
    }
    const std::size_t num_damages = random.below(6);
    const std::string inserted = "\"\n,\r\"x0";
    for (std::size_t i = 0; i < num_damages; i++) {
      const std::size_t at = random.below(bytes.size());
      if (random.chance(2)) bytes.erase(at, random.below(9));
      bytes.insert(std::min(at, bytes.size()), 1, inserted[random.below(inserted.size())]);
    }
    ASSERT_EQ(check(bytes), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace chopper::test
