// SPDX-License-Identifier: Apache-2.0
// Files of counters, each by every reader of them: no crash, all invariants, and the same result however the text is
// cut into pieces. Without the readers of traces, which cost most of the time of trace_fuzz.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../tests/support/trace_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::size_t kWindows[] = {1, 2, 3, 7, 16, 64, 100, 4096};
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < chopper::kNumFormats; i++) {
    const chopper::TraceFormat& format = *chopper::kFormats[i];
    if (!format.name.starts_with("rocprof-") && !format.name.starts_with("rocprofv3-")) continue;
    const chopper::test::Reading whole = chopper::test::read_bytes(format, bytes, 0, 1);
    const chopper::test::Reading pieces = chopper::test::read_bytes(format, bytes, kWindows[(data[0] + size) % 8], 1);
    if (!whole.broken.empty() || !pieces.broken.empty() || whole.text != pieces.text) {
      std::fprintf(stderr, "%s: %s%s\n%s\n", std::string(format.name).c_str(), whole.broken.c_str(),
                   pieces.broken.c_str(), chopper::test::difference(whole.text, pieces.text).c_str());
      std::abort();
    }
  }
  return 0;
}
