// SPDX-License-Identifier: Apache-2.0
// Written once for every registered format: a result never depends on how a file was cut into pieces or on the threads,
// damaged or not; and no damage does worse than a Result or a counted record.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "ingest/format.h"
#include "support/sanitizer.h"
#include "support/trace_builder.h"
#include "support/trace_dump.h"

namespace chopper::test {
namespace {

struct Sample {
  std::string name;
  std::string bytes;
  bool trace = true;  // some format must claim it
};

// The inputs of all golden cases, each content once.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    namespace fs = std::filesystem;
    std::vector<Sample> found;
    std::vector<fs::path> files;
    const fs::path golden = fs::path(CHOPPER_SOURCE_DIR) / "tests/golden";
    for (const auto& entry : fs::recursive_directory_iterator(golden)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::set<std::string> seen;
    for (const fs::path& file : files) {
      const std::string name = file.filename().string();
      if (name == "command" || name == "expected.txt" || name == "expected_exit" || name.ends_with(".md")) continue;
      std::ifstream stream(file, std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(stream), {}};
      if (!seen.insert(bytes).second) continue;
      const std::string shown = file.lexically_relative(golden).generic_string();
      const bool readable =
          shown.find("unrecognised/") == std::string::npos && shown.find("damaged_at_once") == std::string::npos;
      const bool trace =
          readable && (bytes.find("traceEvents") != std::string::npos || name.find(".csv") != std::string::npos) &&
          shown.find("/refused/") == std::string::npos && shown.find("foreign_files/") == std::string::npos;
      found.push_back({shown, std::move(bytes), trace});
    }
    return found;
  }();
  return all;
}

std::string head_of(const std::string& bytes) {
  const auto source = open_memory_source(bytes);
  std::string head(kSniffBytes, '\0');
  const auto size = source->read(head);
  head.resize(size.ok() ? size.value() : 0);
  return head;
}

// Generated from the sizes that matter: nothing fits, prime sizes, a block of the scanner, a page, the default.
constexpr std::size_t kWindows[] = {1, 2, 3, 7, 64, 4096, std::size_t{1} << 20};

void expect_same_for_all_pieces(const TraceFormat& format, const std::string& bytes) {
  const Reading whole = read_bytes(format, bytes, 0, 1);
  ASSERT_EQ(whole.broken, "");
  for (const std::size_t window : kWindows) {
    for (const unsigned threads : {1u, 2u, 4u}) {
      const Reading pieces = read_bytes(format, bytes, window, threads);
      ASSERT_EQ(pieces.broken, "") << "window " << window << ", threads " << threads;
      ASSERT_EQ(difference(pieces.text, whole.text), "") << "window " << window << ", threads " << threads;
    }
  }
}

// The same with the few combinations that differ most; for thousands of damaged inputs. What runs on one thread tells
// the thread sanitizer nothing and takes it ten times as long: there only the others are read.
bool same_for_few_pieces(const TraceFormat& format, const std::string& bytes, const std::string& what, bool threads) {
  if (kThreadSanitizer && !threads) return true;
  const Reading whole = read_bytes(format, bytes, 0, 1);
  const Reading single = read_bytes(format, bytes, 1, 1);
  const Reading blocks = read_bytes(format, bytes, 64, threads ? 3 : 1);
  EXPECT_EQ(whole.broken + single.broken + blocks.broken, "") << what;
  EXPECT_EQ(difference(single.text, whole.text), "") << what << ", window 1";
  EXPECT_EQ(difference(blocks.text, whole.text), "") << what << ", window 64, threads " << (threads ? 3 : 1);
  return whole.broken.empty() && single.broken.empty() && blocks.broken.empty() && single.text == whole.text &&
         blocks.text == whole.text;
}

class Conformance : public testing::TestWithParam<const TraceFormat*> {};

TEST_P(Conformance, WholeInputIsTheSameInPieces) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    expect_same_for_all_pieces(*GetParam(), sample.bytes);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Conformance, GeneratedInputIsTheSameInPieces) {
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE(seed_text(seed));
    TraceShape shape;
    shape.num_launches = seed * 15;
    if (seed % 3 == 0) shape.base_ns = 0;
    expect_same_for_all_pieces(*GetParam(), build_trace(seed, shape).text());
    if (HasFatalFailure()) return;
  }
}

// Whether an input is damaged at every byte: a few are, of those that the format reads; the rest is damaged here and
// there.
bool is_damaged_everywhere(const TraceFormat& format, const Sample& sample, std::size_t number) {
  return number % 10 == 0 && format.sniff(head_of(sample.bytes)) == Confidence::yes;
}

// Every cut of a few inputs, some cuts of all.
TEST_P(Conformance, EveryTruncationIsTheSameInPieces) {
  int failures = 0;
  std::size_t number = 0;
  for (const Sample& sample : samples()) {
    Random random(number);
    const bool all = is_damaged_everywhere(*GetParam(), sample, number++);
    const std::size_t stride = all && kAddressSanitizer ? kPlaceStride : 1;
    for (std::size_t i = 0; i < (all ? sample.bytes.size() : std::min<std::size_t>(24, sample.bytes.size()));
         i += stride) {
      const std::size_t size = all ? i : random.below(sample.bytes.size());
      if (!same_for_few_pieces(*GetParam(), sample.bytes.substr(0, size),
                               sample.name + " cut to " + std::to_string(size), i % 16 == 0) &&
          ++failures == 5)
        return;
    }
  }
}

TEST_P(Conformance, EveryFlippedByteIsTheSameInPieces) {
  int failures = 0;
  std::size_t number = 0;
  for (const Sample& sample : samples()) {
    Random random(number);
    const bool all = is_damaged_everywhere(*GetParam(), sample, number++);
    const std::size_t stride = all && kAddressSanitizer ? kPlaceStride : 1;
    for (std::size_t i = 0; i < (all ? sample.bytes.size() : std::min<std::size_t>(24, sample.bytes.size()));
         i += stride) {
      const std::size_t at = all ? i : random.below(sample.bytes.size());
      const std::size_t bit = random.below(8);
      std::string bytes = sample.bytes;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << bit));
      if (!same_for_few_pieces(
              *GetParam(), bytes,
              sample.name + " with bit " + std::to_string(bit) + " of byte " + std::to_string(at) + " flipped",
              i % 16 == 0) &&
          ++failures == 5)
        return;
    }
  }
}

TEST_P(Conformance, DamagedInputIsTheSameInPieces) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 4000; seed++) {
    Random random(seed);
    TraceShape shape;
    shape.num_launches = 1 + random.below(8);
    const std::string bytes =
        damage(random.chance(3) ? random.pick(samples()).bytes : build_trace(seed, shape).text(), random);
    if (!same_for_few_pieces(*GetParam(), bytes, seed_text(seed), seed % 8 == 0) && ++failures == 5) return;
  }
}

// Damage with more text behind it than is looked at to judge it.
TEST_P(Conformance, DamageInALongInputIsTheSameInPieces) {
  TraceShape shape;
  shape.num_launches = 4000;
  for (std::uint64_t seed = 1; seed <= 16; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::string bytes = build_trace(seed, shape).text();
    ASSERT_GT(bytes.size(), std::size_t{1500000});
    const std::size_t at = bytes.find("\"name\"", random.below(200000));
    if (seed % 2 == 0) {
      bytes[bytes.find('"', at + 9)] = 'x';  // the closing quote
    } else {
      bytes.insert(at, 1, static_cast<char>(random.pick(std::vector<int>{'"', '{', '}', '[', ']'})));
    }
    const Reading whole = read_bytes(*GetParam(), bytes, 0, 1);
    EXPECT_EQ(whole.broken, "");
    for (const auto& [window, threads] :
         {std::pair<std::size_t, unsigned>{64, 2}, {5000, 3}, {std::size_t{3} << 20, 1}}) {
      const Reading pieces = read_bytes(*GetParam(), bytes, window, threads);
      EXPECT_EQ(difference(pieces.text, whole.text), "") << "window " << window << ", threads " << threads;
    }
  }
}

// Several threads read ahead while damage in front of them voids what they have read.
TEST_P(Conformance, ManyDamagesInALongInputAreTheSameInPieces) {
  TraceShape shape;
  shape.num_launches = 1500;
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    BuiltTrace trace = build_trace(seed, shape);
    for (std::size_t i = 0; i < 40; i++) {
      std::string& event = trace.events[random.below(trace.events.size())];
      event = damage(event, random);
      if (random.chance(4))
        trace.events[random.below(trace.events.size())] +=
            random.pick(std::vector<std::string>{",", " ", ",,", ",7", "]", ",\"x", "}"});
    }
    const std::string bytes = trace.text();
    const Reading whole = read_bytes(*GetParam(), bytes, 0, 1);
    EXPECT_EQ(whole.broken, "");
    for (const auto& [window, threads] : {std::pair<std::size_t, unsigned>{64, 1}, {300, 4}, {5000, 3}, {100000, 2}}) {
      const Reading pieces = read_bytes(*GetParam(), bytes, window, threads);
      EXPECT_EQ(difference(pieces.text, whole.text), "") << "window " << window << ", threads " << threads;
    }
    if (HasFailure()) return;
  }
}

TEST_P(Conformance, NamesItself) {
  const TraceFormat& format = *GetParam();
  EXPECT_FALSE(format.name.empty());
  EXPECT_FALSE(format.summary.empty());
  EXPECT_FALSE(format.reads.empty());
  EXPECT_EQ(format.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
}

TEST_P(Conformance, ClaimsNothingThatIsEmptyOrBlank) {
  for (const std::string_view head : {"", " ", "\n\n", "\xef\xbb\xbf"})
    EXPECT_EQ(GetParam()->sniff(head), Confidence::no);
}

INSTANTIATE_TEST_SUITE_P(Formats, Conformance,
                         testing::ValuesIn(std::vector<const TraceFormat*>(kFormats, kFormats + kNumFormats)),
                         [](const auto& instance) {
                           std::string name(instance.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The content decides: nothing here knows what the file is called.
TEST(Recognition, ExactlyOneFormatClaimsEachSample) {
  std::size_t traces = 0;
  for (const Sample& sample : samples()) {
    const std::string head = head_of(sample.bytes);
    std::vector<std::size_t> claims(3, 0);
    for (std::size_t i = 0; i < kNumFormats; i++) claims[static_cast<std::size_t>(kFormats[i]->sniff(head))]++;
    EXPECT_LE(claims[static_cast<std::size_t>(Confidence::yes)], 1u) << sample.name;
    if (!sample.trace) continue;
    traces++;
    EXPECT_EQ(claims[static_cast<std::size_t>(Confidence::yes)], 1u) << sample.name;
  }
  EXPECT_GT(traces, 100u);
}

}  // namespace
}  // namespace chopper::test
