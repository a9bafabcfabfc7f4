// SPDX-License-Identifier: Apache-2.0
// What a reader made of some bytes, as text: equal text means equal results. And the invariants every result keeps.
// Header only and without GoogleTest: the fuzz targets include it as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/byte_source.h"
#include "ingest/format.h"
#include "model/trace.h"

namespace chopper::test {

/// Writes columns with their ids resolved.
class Dumper {
 public:
  explicit Dumper(const TraceTables& trace) : trace_(trace) {}

  std::string dump() {
    table("gpu_work", trace_.gpu_work);
    table("launches", trace_.launches);
    table("ranges", trace_.ranges);
    table("memory", trace_.memory);
    table("collectives", trace_.collectives);
    if (trace_.pass) pass(*trace_.pass);
    const TraceFacts& f = trace_.facts;
    out_ += "facts vendor " + std::string(to_string(f.vendor)) + " clock " + std::string(to_string(f.clock)) +
            " quantum " + std::to_string(f.quantum_ns) + " text " + std::to_string(f.text_bytes) + " records " +
            std::to_string(f.num_records) + " frames " + std::to_string(f.num_python_frames) + " rank " +
            number(f.rank) + " " + std::string(to_string(f.rank_source)) + " of " + number(f.world_size) + " host " +
            f.host.value_or("none") + "\n";
    for (const DeviceFacts& d : f.devices)
      out_ += "device " + std::to_string(d.id) + " " + d.name + " " + std::to_string(d.warp_size) + " " +
              std::to_string(d.num_units) + " " + std::to_string(d.memory_bytes) + "\n";
    for (std::size_t k = 0; k < kNumHealthKinds; k++) {
      const HealthEntry& entry = trace_.health.entry(static_cast<HealthKind>(k));
      if (entry.count == 0) continue;
      out_ += "health " + std::string(info(static_cast<HealthKind>(k)).name) + " " + std::to_string(entry.count) + "\n";
      for (const HealthExample& example : entry.examples) out_ += "  " + example.where + ": " + example.what + "\n";
    }
    return std::move(out_);
  }

 private:
  void pass(const CounterPass& pass) {
    out_ += "pass " + std::string(to_string(pass.content)) + " by " + pass.writer + "\n";
    for (const PassDevice& d : pass.devices)
      out_ +=
          "device " + d.text + " " + std::to_string(static_cast<int>(d.form)) + " " + std::to_string(d.number) + "\n";
    for (const PassKernel& k : pass.kernels) {
      out_ += "kernel " + std::string(pass.strings.view(k.name));
      for (const std::int64_t value : {k.kernel_id, k.grid_size, k.workgroup_size, k.lds_bytes, k.scratch_bytes,
                                       k.num_vgpr, k.num_accum_vgpr, k.num_sgpr})
        out_ += " " + std::to_string(value);
      for (const Extent& extent : {k.grid, k.workgroup}) {
        out_ += " ";
        put(extent);
      }
      out_ += "\n";
    }
    for (const StringId counter : pass.counters) out_ += "counter " + std::string(pass.strings.view(counter)) + "\n";
    table("dispatches", pass.dispatches);
    table("values", pass.values);
    marks(pass);
    for (const AgentFacts& a : pass.agents) {
      out_ += "agent " + a.architecture + "|" + a.product + "|" + a.vendor_name + (a.is_gpu ? " gpu" : " cpu");
      for (const std::int64_t value : {a.node, a.visible_index, a.type_index, a.num_xcc, a.num_cu, a.num_simd,
                                       a.wave_size, a.max_clock_mhz, a.pci_domain, a.pci_location})
        out_ += " " + std::to_string(value);
      out_ += " at " + std::to_string(a.offset) + "\n";
    }
  }
  // Names are of the pass, not of the trace.
  void marks(const CounterPass& pass) {
    for (std::size_t i = 0; i < num_rows(pass.marks); i++) {
      out_ += "mark " + std::string(pass.strings.view(pass.marks.name[i])) + " " +
              std::to_string(pass.marks.process[i]) + " " + std::to_string(pass.marks.thread[i]) + " " +
              std::to_string(pass.marks.start_ns[i]) + " " + std::to_string(pass.marks.end_ns[i]) + " at " +
              std::to_string(pass.marks.offset[i]) + "\n";
    }
  }
  template <class Table>
  void table(std::string_view name, const Table& table) {
    std::size_t number = 0;
    for_each_column(table, [&](const auto& column) {
      out_ += std::string(name) + "." + std::to_string(number++) + ":";
      for (const auto& value : column) {
        out_ += ' ';
        put(value);
      }
      out_ += '\n';
    });
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, StringId>) {
      out_ += value == kNoString ? std::string("none") : "\"" + std::string(trace_.strings.view(value)) + "\"";
    } else if constexpr (std::is_same_v<T, ThreadId>) {
      out_ += trace_.threads[index_of(value)].pid + "/" + trace_.threads[index_of(value)].tid;
    } else if constexpr (std::is_same_v<T, Extent>) {
      out_ += std::to_string(value.x) + "x" + std::to_string(value.y) + "x" + std::to_string(value.z);
    } else if constexpr (std::is_enum_v<T>) {
      out_ += std::to_string(static_cast<std::uint64_t>(value));
    } else {
      out_ += std::to_string(value);
    }
  }
  static std::string number(const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "none";
  }

  const TraceTables& trace_;
  std::string out_;
};

/// Says which invariant a counter pass of `text_bytes` breaks; empty: none.
inline std::string broken_invariant(const CounterPass& pass, std::uint64_t text_bytes) {
  std::string broken;
  const auto even = [&](const auto& table) {
    for_each_column(table, [&](const auto& column) {
      if (column.size() != num_rows(table)) broken = "columns of a pass differ in length";
    });
    return broken.empty();
  };
  if (!even(pass.dispatches) || !even(pass.values) || !even(pass.marks)) return broken;
  for (const PassKernel& kernel : pass.kernels) {
    if (index_of(kernel.name) >= pass.strings.size()) broken = "the name of a kernel is no string";
  }
  for (const StringId counter : pass.counters) {
    if (index_of(counter) >= pass.strings.size()) broken = "the name of a counter is no string";
  }
  const PassDispatchTable& d = pass.dispatches;
  for (std::size_t i = 0; i < num_rows(d); i++) {
    if (d.device[i] >= pass.devices.size() || d.kernel[i] >= pass.kernels.size()) broken = "a dispatch has no kernel";
    if (d.offset[i] >= text_bytes) broken = "an offset of a dispatch lies behind the text";
    if ((d.start_ns[i] == kNoNumber) != (d.end_ns[i] == kNoNumber)) broken = "half a time";
    if (d.start_ns[i] != kNoNumber && (d.start_ns[i] <= 0 || d.end_ns[i] < d.start_ns[i])) broken = "a time is wrong";
  }
  const CounterValueTable& v = pass.values;
  for (std::size_t i = 0; i < num_rows(v); i++) {
    if (v.dispatch[i] >= num_rows(d) || v.counter[i] >= pass.counters.size()) broken = "a value is of no dispatch";
    if (v.offset[i] >= text_bytes) broken = "an offset of a value lies behind the text";
    if (!(v.value[i] - v.value[i] == 0)) broken = "a value is not finite";
    if (i > 0 && v.dispatch[i] < v.dispatch[i - 1]) broken = "values are not grouped by dispatch";
    for (std::size_t k = i; k-- > 0 && v.dispatch[k] == v.dispatch[i];) {
      if (v.counter[k] == v.counter[i]) broken = "a counter twice in a dispatch";
    }
  }
  return broken;
}

/// Says which invariant `trace` breaks; empty: none.
inline std::string broken_invariant(const TraceTables& trace) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  std::string broken;
  const auto name = [&](StringId id) {
    if (id != kNoString && index_of(id) >= trace.strings.size()) broken = "a name is no string";
  };
  const auto time = [&](std::int64_t start, std::int64_t duration) {
    if (start <= -kLimit || start >= kLimit || duration < 0 || duration >= kLimit || start + duration >= kLimit)
      broken = "a time is out of bounds: " + std::to_string(start) + " + " + std::to_string(duration);
  };
  const auto thread = [&](ThreadId id) {
    if (index_of(id) >= trace.threads.size()) broken = "a thread is unknown";
  };
  const auto offset = [&](std::uint64_t at) {
    if (at >= trace.facts.text_bytes) broken = "an offset lies behind the text: " + std::to_string(at);
  };
  const auto even = [&](const auto& table) {
    for_each_column(table, [&](const auto& column) {
      if (column.size() != num_rows(table)) broken = "columns differ in length";
    });
    return broken.empty();
  };
  if (!even(trace.gpu_work) || !even(trace.launches) || !even(trace.ranges) || !even(trace.memory) ||
      !even(trace.collectives))
    return broken;
  for (std::size_t i = 0; i < num_rows(trace.gpu_work); i++) {
    const GpuWorkTable& t = trace.gpu_work;
    name(t.name[i]);
    time(t.start_ns[i], t.duration_ns[i]);
    offset(t.offset[i]);
    if (t.device[i] < kUnknownDevice) broken = "a device is negative";
    if (t.collective[i] != kNoRow && index_of(t.collective[i]) >= num_rows(trace.collectives))
      broken = "a collective has no row";
  }
  for (std::size_t i = 0; i < num_rows(trace.launches); i++) {
    name(trace.launches.name[i]);
    time(trace.launches.start_ns[i], trace.launches.duration_ns[i]);
    thread(trace.launches.thread[i]);
    offset(trace.launches.offset[i]);
  }
  for (std::size_t i = 0; i < num_rows(trace.ranges); i++) {
    name(trace.ranges.name[i]);
    time(trace.ranges.start_ns[i], trace.ranges.duration_ns[i]);
    thread(trace.ranges.thread[i]);
    offset(trace.ranges.offset[i]);
  }
  for (const ThreadId id : trace.memory.thread) thread(id);
  for (std::size_t i = 0; i < num_rows(trace.collectives); i++) {
    for (const StringId id : {trace.collectives.kind[i], trace.collectives.group[i], trace.collectives.ranks[i],
                              trace.collectives.dtype[i]})
      name(id);
  }
  std::uint64_t counted = num_rows(trace.gpu_work);
  if (trace.pass) {
    const std::string of_pass = broken_invariant(*trace.pass, trace.facts.text_bytes);
    if (!of_pass.empty()) return of_pass;
    // A record can hold many values: tables with a column for each counter.
    counted += num_rows(trace.pass->dispatches) + trace.pass->agents.size() + num_rows(trace.pass->marks);
  }
  if (counted > trace.facts.num_records) broken = "more rows than records";
  return broken;
}

/// A result as text; `broken` says which invariant it breaks.
struct Reading {
  std::string text;
  std::string broken;
};

/// Returns the first line in which two texts differ, shortened; empty when they are equal.
inline std::string difference(std::string_view a, std::string_view b) {
  if (a == b) return {};
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) at++;
  const auto shown = [at](std::string_view text) {
    const std::size_t line = text.rfind('\n', at > 0 ? at - 1 : 0) + 1;
    const std::size_t from = at - line > 120 ? at - 120 : line;
    return std::string(text.substr(line, text.find_first_of(" \n", line) - line)) + " ... " +
           std::string(text.substr(from, std::min<std::size_t>(text.find('\n', at), at + 120) - from));
  };
  return shown(a) + "\nand\n" + shown(b);
}

/// Reads `bytes` (plain or compressed) with `format`.
inline Reading read_bytes(const TraceFormat& format, const std::string& bytes, std::size_t window_bytes,
                          unsigned threads) {
  ReadOptions options;
  options.threads = threads;
  options.window_bytes = window_bytes;
  const SourceOpener open = [&bytes]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); };
  const Result<TraceTables> result = format.read(open, "input", options);
  if (!result.ok()) return {"error " + result.error().text() + "\n", {}};
  std::string broken = broken_invariant(result.value());
  if (!broken.empty()) return {"", broken};
  return {Dumper(result.value()).dump(), {}};
}

}  // namespace chopper::test
