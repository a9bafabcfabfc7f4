// SPDX-License-Identifier: Apache-2.0
// Speed of reading a made-up Kineto trace that lies in memory: the sequential scan alone, and the whole reader.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/format.h"
#include "ingest/kineto/json_scan.h"

namespace chopper {
namespace {

constexpr std::size_t kTraceBytes = 100'000'000;  // beyond the caches of most machines

// One launch, its arrow and its kernel every 10 us, laid out as the profiler does, until there are kTraceBytes of text.
struct TraceText {
  std::string text;
  std::size_t events_at = 0;  // where the first event begins
  std::size_t num_events = 0;
};

TraceText make_trace() {
  TraceText trace;
  trace.text = "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n";
  trace.events_at = trace.text.size();
  for (std::int64_t i = 1; trace.text.size() < kTraceBytes; i++) {
    const std::string id = std::to_string(i);
    const std::string launch = std::to_string(3'743'411'230'000 + 10 * i) + ".125";
    const std::string start = std::to_string(3'743'411'230'006 + 10 * i) + ".250";
    trace.text +=
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1,\n  "
        "  \"ts\": " +
        launch + ", \"dur\": 4.500,\n    \"args\": {\n      \"External id\": " + id +
        ", \"cbid\": 211, \"correlation\": " + id + "\n    }\n  },\n";
    trace.text += "  {\n    \"ph\": \"s\", \"id\": " + id + ", \"pid\": 1, \"tid\": 1, \"ts\": " + launch +
                  ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n";
    trace.text += "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void kernel_" + std::to_string(i % 400) +
                  "<__nv_bfloat16, 128, 128, 64>(int, float*)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": " + start +
                  ", \"dur\": 8.000,\n    \"args\": {\n      \"External id\": " + id +
                  ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " + id +
                  ",\n      \"registers per thread\": 128, \"shared memory\": 65536, \"grid\": [16, 32, 1], "
                  "\"block\": [128, 1, 1]\n    }\n  },\n";
    trace.num_events += 3;
  }
  trace.text +=
      "  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"ts\": 0, \"args\": {\"name\": "
      "\"python\"}}\n  ]\n}\n";
  trace.num_events++;
  return trace;
}

const TraceText& trace() {
  static const TraceText made = make_trace();
  return made;
}

void set_rates(benchmark::State& state, std::size_t num_bytes, std::size_t num_events) {
  const std::int64_t iterations = state.iterations();
  state.SetBytesProcessed(iterations * static_cast<std::int64_t>(num_bytes));
  state.SetItemsProcessed(iterations * static_cast<std::int64_t>(num_events));
}

void bench_scan_elements(benchmark::State& state) {
  const std::string_view events = std::string_view(trace().text).substr(trace().events_at);
  if (scan_elements(events, false).closed_at == ElementScan::npos) {
    state.SkipWithError("the scan does not reach the end of the array");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(scan_elements(events, false));
  set_rates(state, events.size(), trace().num_events);
}
BENCHMARK(bench_scan_elements)->Unit(benchmark::kMillisecond);

const TraceFormat* find_format(std::string_view name) {
  for (std::size_t i = 0; i < kNumFormats; i++) {
    if (kFormats[i]->name == name) return kFormats[i];
  }
  return nullptr;
}

// Reads with range(0) threads. Making the source copies the text, which a file would not need: not part of the time.
void bench_read_kineto(benchmark::State& state) {
  const TraceFormat* format = find_format("kineto-json");
  if (format == nullptr) {
    state.SkipWithError("this build has no format kineto-json");
    return;
  }
  ReadOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    std::unique_ptr<ByteSource> prepared = open_memory_source(trace().text);
    state.ResumeTiming();
    const SourceOpener open = [&]() -> Result<std::unique_ptr<ByteSource>> {
      return prepared ? std::move(prepared) : open_memory_source(trace().text);
    };
    const auto tables = format->read(open, "trace.json", options);
    if (!tables.ok()) {
      state.SkipWithError(tables.error().text().c_str());
      return;
    }
    benchmark::DoNotOptimize(&tables.value());
  }
  set_rates(state, trace().text.size(), trace().num_events);
}
BENCHMARK(bench_read_kineto)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chopper
