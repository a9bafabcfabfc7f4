// SPDX-License-Identifier: Apache-2.0
// Databases: the bytes are damage that is done to a small database of each format, and, where they begin as a database,
// one themselves. No crash, and all invariants of what is read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../tests/support/database.h"
#include "../tests/support/trace_dump.h"

namespace {

using namespace chopper;
using namespace chopper::test;

struct Sample {
  std::string_view format;
  std::string bytes;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = {
      {"rocpd", database_of("PRAGMA page_size=512;" + rocpd_tables("_0a", "0a") + rocpd_rows("_0a", 500))},
      {"nsight-systems", database_of("PRAGMA page_size=512;" + nsight_tables())},
      {"rpd", database_of("PRAGMA page_size=512;" + rpd_tables())}};
  return kSamples;
}

void read(const TraceFormat& format, const std::string& bytes) {
  const Reading reading = read_bytes(format, bytes, 0, 1);
  if (reading.broken.empty()) return;
  std::fprintf(stderr, "%s: %s\n", std::string(format.name).c_str(), reading.broken.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool is_one = std::string_view(reinterpret_cast<const char*>(data), size).starts_with("SQLite format 3");
  for (std::size_t i = 0; i < kNumFormats; i++) {
    const TraceFormat& format = *kFormats[i];
    if (is_one && format.look != nullptr) read(format, std::string(reinterpret_cast<const char*>(data), size));
    for (const Sample& sample : samples()) {
      if (is_one || sample.format != format.name || size < 4 ||
          data[0] % samples().size() != static_cast<std::size_t>(&sample - samples().data()))
        continue;
      // Groups of (place, place, value): overwrites bytes; the second byte of all cuts the end off.
      std::string bytes = sample.bytes;
      for (std::size_t at = 2; at + 2 < size; at += 3) {
        const std::size_t place = (std::size_t{data[at]} << 8 | data[at + 1]) % bytes.size();
        bytes[place] = static_cast<char>(data[at + 2]);
      }
      bytes.resize(bytes.size() - bytes.size() * data[1] / 512);
      read(format, bytes);
    }
  }
  return 0;
}
