// SPDX-License-Identifier: Apache-2.0
// The whole way from bytes to the summary of a file: every format, attribution, analyses. No crash; every record has
// one label of each kind, and the windows of each gpu sum to its span.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../tests/support/trace_dump.h"
#include "analyze/memory.h"
#include "analyze/timeline.h"
#include "attribute/attribute.h"

namespace {

#define EXPECT(condition)                                          \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      std::abort();                                                \
    }                                                              \
  } while (false)

const chopper::AttributionRules& rules() {
  static const chopper::AttributionRules kRules{chopper::embedded_class_rules().value(),
                                                chopper::embedded_phase_rules().value(),
                                                chopper::embedded_operation_maps().value(),
                                                chopper::embedded_group_dimension_rules().value(),
                                                {}};
  return kRules;
}

void check_labels(const chopper::TraceTables& trace, const chopper::GpuWorkLabels& labels) {
  const std::size_t n = num_rows(trace.gpu_work);
  const std::size_t marks = labels.iterations.marks.size();
  EXPECT(labels.operation.size() == n && labels.instance.size() == n && labels.layer.size() == n);
  std::size_t comm = 0;
  for (std::size_t i = 0; i < n; i++) {
    const bool linked = labels.launch[i] != chopper::kNoRow;
    EXPECT(labels.iteration[i] < 0 || static_cast<std::size_t>(labels.iteration[i]) < marks);
    EXPECT((labels.iteration[i] == chopper::kNoIteration) == !linked);
    EXPECT(labels.layer[i] >= chopper::kUnknownLayer);
    EXPECT((labels.layer[i] == chopper::kUnknownLayer) == (labels.layer_rule[i] == chopper::LabelRule::none));
    EXPECT((labels.operation[i] == chopper::kNoString) == (labels.operation_rule[i] == chopper::LabelRule::none));
    EXPECT(!linked || labels.phase[i] != chopper::Phase::unlabelled);
    EXPECT(labels.instance[i] < n);
    if (labels.gpu_class[i] == chopper::GpuClass::comm) comm++;
  }
  EXPECT(labels.collectives.gpu_row.size() == comm);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < chopper::kNumFormats; i++) {
    chopper::ReadOptions options;
    options.threads = 1;
    const chopper::SourceOpener open = [&bytes]() -> chopper::Result<std::unique_ptr<chopper::ByteSource>> {
      return chopper::open_memory_source(bytes);
    };
    const chopper::Result<chopper::TraceTables> read = chopper::kFormats[i]->read(open, "input", options);
    if (!read.ok() || num_rows(read.value().gpu_work) == 0) continue;
    const chopper::TraceTables& trace = read.value();
    chopper::HealthLog health;
    const chopper::GpuWorkLabels labels = chopper::attribute_gpu_work(trace, rules(), "input", health, 1);
    check_labels(trace, labels);
    chopper::SummaryOptions summary;
    summary.threads = 1;
    summary.grain = {true, true};
    std::vector<chopper::KernelTimes> times;
    for (const chopper::GpuSummary& gpu : chopper::summarise_gpus(trace, labels, summary, health, &times)) {
      std::int64_t windows = 0;
      for (const chopper::WindowSummary& window : gpu.windows) {
        if (window.row.window_ns.present()) windows += window.row.window_ns.value();
      }
      EXPECT(windows == gpu.timeline.span_ns);
    }
    static_cast<void>(chopper::summarise_memory(trace, labels.iterations));
  }
  return 0;
}
