// SPDX-License-Identifier: Apache-2.0
// Pages of Nsight Compute: the same result however the text is cut into pieces, invariants kept, and numbers read so
// that taking their separators out changes nothing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../tests/support/trace_dump.h"
#include "ingest/nsight/number.h"
#include "ingest/nsight/page_reader.h"

namespace {

void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

const chopper::TraceFormat kFormat = {"nsight-compute-csv", "", "", nullptr, chopper::nsight::read_page};

// What is one number only is the same one without its separators of thousands.
void check_number(std::string_view text) {
  using namespace chopper::nsight;
  const NumberCell cell = parse_number(text, 0);
  const bool commas = (cell.evidence & SeparatorEvidence::comma_thousands) != 0;
  if (cell.form != NumberForm::number || !commas) return;
  std::string plain;
  for (const char c : text) {
    if (c != ',') plain += c;
  }
  const NumberCell again = parse_number(plain, 0);
  if (again.form != NumberForm::number || again.value != cell.value) fail("not the same number: " + plain);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const chopper::test::Reading whole = chopper::test::read_bytes(kFormat, text, 0, 1);
  if (!whole.broken.empty()) fail(whole.broken);
  for (const std::size_t window : {1u, 7u, 100u}) {
    const chopper::test::Reading pieces = chopper::test::read_bytes(kFormat, text, window, 1);
    if (!pieces.broken.empty()) fail(pieces.broken);
    if (pieces.text != whole.text) {
      fail("window " + std::to_string(window) + ": " + chopper::test::difference(pieces.text, whole.text));
    }
  }
  check_number(text);
  for (std::size_t at = 0; at < size;) {
    const std::size_t end = std::min(text.find('"', at), size);
    check_number(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return 0;
}
