// SPDX-License-Identifier: Apache-2.0
// Pages of Nsight Compute, damaged in every place: no row of the page details used twice or lost without a count, no
// value that the whole page does not hold, and whatever is printed between rows leaves them alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ingest/nsight/page_reader.h"
#include "support/random.h"
#include "support/sanitizer.h"

namespace chopper::test {
namespace {

Result<TraceTables> read(const std::string& bytes) {
  return nsight::read_page([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input",
                           {});
}

std::string page(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(CHOPPER_SOURCE_DIR) / "tests/golden/counters/nsight";
  std::ifstream stream(folder / name / "input.csv", std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::vector<std::string> kPages = {
    "details", "old_columns",  "locale_dot_thousands", "missing_values", "nvtx_columns", "several_gpus",
    "damaged", "cut_last_row", "profiler_error",       "joined",         "unquoted"};

using Value = std::tuple<std::int64_t, std::int64_t, std::string, std::string, double>;

std::multiset<Value> values_of(const TraceTables& tables) {
  std::multiset<Value> found;
  const CounterPass& pass = *tables.pass;
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    const std::uint32_t d = pass.values.dispatch[i];
    found.emplace(pass.dispatches.dispatch_id[d], pass.dispatches.process[d],
                  pass.strings.view(pass.kernels[pass.dispatches.kernel[d]].name),
                  pass.strings.view(pass.counters[pass.values.counter[i]]), pass.values.value[i]);
  }
  return found;
}

// Rows of a page details that were used or counted.
std::uint64_t accounted(const TraceTables& tables) {
  using enum HealthKind;
  std::uint64_t sum = num_rows(tables.pass->values);
  for (const HealthKind kind : {unreadable_row, short_row, unreadable_value, missing_value, conflicting_value,
                                repeated_row, truncated, ambiguous_number, not_a_counter, unknown_counter})
    sum += tables.health.count(kind);
  return sum;
}

void expect_accounted(const std::string& bytes, const std::string& what) {
  const auto result = read(bytes);
  if (!result.ok() || !result.value().pass->writer.ends_with("details")) return;
  ASSERT_EQ(accounted(result.value()), result.value().facts.num_records) << what;
}

TEST(NsightPages, EveryPrefixHoldsValuesOfTheWhole) {
  for (const std::string& name : kPages) {
    const std::string bytes = page(name);
    const auto whole = read(bytes);
    ASSERT_TRUE(whole.ok()) << name;
    const auto most = values_of(whole.value());
    for (std::size_t size = 0; size < bytes.size(); size += kPlaceStride) {
      const auto cut = read(bytes.substr(0, size));
      if (!cut.ok()) continue;
      ASSERT_EQ(accounted(cut.value()), cut.value().facts.num_records) << name << " cut to " << size;
      const auto some = values_of(cut.value());
      if (name == "damaged") continue;  // what a damaged row swallows depends on where the text ends
      ASSERT_TRUE(std::includes(most.begin(), most.end(), some.begin(), some.end())) << name << " cut to " << size;
    }
  }
}

TEST(NsightPages, EveryFlippedBitIsReadOrCounted) {
  Random random(11);
  for (const std::string& name : kPages) {
    const std::string bytes = page(name);
    for (std::size_t at = 0; at < bytes.size(); at += kPlaceStride) {
      std::string flipped = bytes;
      const std::size_t bit = random.below(8);
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1u << bit));
      expect_accounted(flipped, name + ", bit " + std::to_string(bit) + " of byte " + std::to_string(at));
      flipped[at] = random.chance(3) ? '"' : random.chance(2) ? '\n' : ',';
      expect_accounted(flipped, name + ", byte " + std::to_string(at));
      if (HasFatalFailure()) return;
    }
  }
}

// Losing one mark of a page costs the rows on both sides of it at most.
TEST(NsightPages, AFlippedByteCostsTwoRowsAtMost) {
  std::string bytes = page("old_columns");
  const std::size_t header = bytes.find('\n') + 1;
  bytes.resize(header);
  for (int i = 0; i < 30; i++)
    bytes += "\"" + std::to_string(i) +
             R"csv(","4711","sgemm","h","sgemm(float*, int)","today","1","7","S","a__b.sum","inst",")csv" +
             std::to_string(1000 + i) + "\"\n";
  const auto whole = values_of(read(bytes).value());
  ASSERT_EQ(whole.size(), 30u);
  Random random(3);
  for (std::size_t at = header; at < bytes.size(); at++) {
    std::string flipped = bytes;
    flipped[at] = random.chance(3) ? '"' : random.chance(2) ? '\n' : ',';
    const auto result = read(flipped);
    ASSERT_TRUE(result.ok()) << at;
    const auto left = values_of(result.value());
    std::vector<Value> missing;
    std::set_difference(whole.begin(), whole.end(), left.begin(), left.end(), std::back_inserter(missing));
    ASSERT_LE(missing.size(), 2u) << "byte " << at << " is " << flipped[at];
    const std::uint64_t counted = result.value().health.count(HealthKind::other_output);
    ASSERT_TRUE(left.size() == whole.size() || result.value().health.worst() != Severity::note || counted > 0) << at;
  }
}

// Anything an application may print, as lines of its own.
TEST(NsightPages, OutputBetweenRowsChangesNoValue) {
  const std::vector<std::string> outputs = {"hello",
                                            "a, b, c",
                                            "loss 1.5, \"step\" 3",
                                            "{\"loss\": 1.2, \"step\": 3}",
                                            "{\"a\":1,\"b\":2}",
                                            "[\"a\",\"b\",\"c\"]",
                                            "it's \"odd",
                                            "x,\"y",
                                            "  indented, \"text\"",
                                            "==PROF== Profiling \"k\" - 3: 0%....50%....100% - 5 passes",
                                            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20",
                                            "\"",
                                            "\xff\xfe\x01",
                                            "'"};
  for (const char* name : {"details", "nvtx_columns", "raw"}) {
    const std::string bytes = page(name);
    const auto most = values_of(read(bytes).value());
    for (std::size_t at = bytes.find('\n'); at != std::string::npos; at = bytes.find('\n', at + 1)) {
      // Not inside the one cell of several lines.
      if (bytes.compare(at + 1, 4, "Look") == 0) continue;
      for (const std::string& output : outputs) {
        const auto result = read(bytes.substr(0, at + 1) + output + "\n" + bytes.substr(at + 1));
        ASSERT_TRUE(result.ok()) << name << ": " << output;
        ASSERT_EQ(values_of(result.value()), most) << name << ": " << output << " at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace chopper::test
