// SPDX-License-Identifier: Apache-2.0
// Shapes and types of operators: the first line is the name, the second the shapes, the rest the types. What is known
// is finite and not negative, whatever the text; blanks between the parts change nothing.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyze/operator_inputs.h"
#include "analyze/work.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(std::string_view name, std::string_view shapes, std::string_view types) {
  for (const bool causal : {true, false}) {
    const auto work = chopper::work_of(name, shapes, types, {.causal = causal});
    if (!work) continue;
    expect(std::isfinite(work->flops) && work->flops >= 0 && std::isfinite(work->bytes) && work->bytes >= 0);
    expect(work->peak == chopper::PeakKind::none || !types.empty());
    expect(chopper::work_of(name, std::string(shapes) + " ", types, {.causal = causal}) == work);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t first = text.find('\n');
  const std::size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
  const std::string_view all(text);
  if (second != std::string::npos) {
    std::string_view types = all.substr(second + 1);
    if (types.ends_with('\n')) types.remove_suffix(1);
    check(all.substr(0, first), all.substr(first + 1, second - first - 1), types);
  }
  // Any text as the shapes of one operator of each family.
  for (const char* name : {"aten::mm", "aten::linear", "aten::matmul", "aten::_grouped_mm",
                           "aten::convolution_backward", "aten::_flash_attention_forward",
                           "aten::_scaled_dot_product_efficient_attention_backward", "aten::mul", "aten::embedding"})
    check(name, all, "");
  const auto inputs = chopper::parse_operator_inputs(text, "");
  expect(!inputs || !inputs->has_types);
  return 0;
}
