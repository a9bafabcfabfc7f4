// SPDX-License-Identifier: Apache-2.0
// Counter passes as Nsight Compute prints its raw page with --csv --print-units base (formats.md 3.3, 3.4): lines about
// the process, a header, a line of units, a row for each kernel. Every cell is in quotes.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "synth/counter_physics.h"
#include "synth/dialect.h"
#include "synth/pass_writer.h"

namespace chopper::synth {
namespace {

struct Metric {
  std::string_view name;
  std::string_view unit;
};
// Repeated in both passes: what the clock of the pass follows from.
constexpr Metric kBoth[] = {{"gpu__time_duration.sum", "ns"}, {"sm__cycles_elapsed.max", "cycle"}};
constexpr Metric kCompute[] = {{"sm__cycles_active.avg", "cycle"},
                               {"sm__inst_executed_pipe_tensor.sum", "inst"},
                               {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", ""},
                               {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%"},
                               {"sm__warps_active.avg.pct_of_peak_sustained_active", "%"}};
constexpr Metric kMemory[] = {{"dram__bytes_read.sum", "byte"},
                              {"dram__bytes_write.sum", "byte"},
                              {"lts__t_bytes.sum", "byte"},
                              {"lts__t_sector_hit_rate.pct", "%"}};
constexpr std::string_view kColumns[] = {"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                                         "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

// "9.0" of "sm_90".
std::string capability(const GpuSpec& gpu) {
  const std::string_view digits = std::string_view(gpu.architecture).substr(3);
  return fmt::format("{}.{}", digits.substr(0, digits.size() - 1), digits.back());
}

class NcuCsvWriter : public PassWriter {
 public:
  explicit NcuCsvWriter(const PassProcess& process) : process_(process), job_(process.context.job) {}

  Result<Done> open() {
    CHOPPER_TRY(sink_, create(process_, fmt::format("{}_raw.csv", process_.pid())));
    std::string header, units;
    const auto add = [&](std::string_view name, std::string_view unit) {
      fmt::format_to(std::back_inserter(header), "{}\"{}\"", header.empty() ? "" : ",", name);
      fmt::format_to(std::back_inserter(units), "{}\"{}\"", units.empty() ? "" : ",", unit);
    };
    for (const std::string_view each : kColumns) add(each, "");
    for (const Metric& each : kBoth) add(each.name, each.unit);
    if (process_.pass == 0) {
      for (const Metric& each : kCompute) add(each.name, each.unit);
    } else {
      for (const Metric& each : kMemory) add(each.name, each.unit);
    }
    return sink_->write(fmt::format("==PROF== Connected to process {} (/usr/bin/python3.12)\n", process_.pid()) +
                        header + "\n" + units + "\n");
  }

  Result<Done> write(const PassIteration& iteration) override {
    std::string text;
    for (const PassDispatch& d : iteration.dispatches) {
      const Work& w = *d.work;
      fmt::format_to(std::back_inserter(text),
                     "\"{}\",\"{}\",\"python3.12\",\"{}\",\"{}\",\"1\",\"{}\",\"({}, {}, {})\",\"({}, {}, {})\","
                     "\"{}\",\"{}\",\"{}\",\"{}\"",
                     d.id - 1, process_.pid(), process_.host(), d.name, stream_number(job_.dialect, w.stream, false),
                     w.block[0], w.block[1], w.block[2], w.grid[0], w.grid[1], w.grid[2], process_.local(),
                     capability(job_.gpu), d.end_ns - d.start_ns, whole_cycles(d));
      process_.pass == 0 ? add_compute(text, d) : add_memory(text, w);
      text += "\n";
    }
    return sink_->write(text);
  }

  Result<Done> finish() override {
    CHOPPER_TRY([[maybe_unused]] const Done written,
                sink_->write(fmt::format("==PROF== Disconnected from process {}\n", process_.pid())));
    return sink_->finish();
  }

 private:
  static std::int64_t whole_cycles(const PassDispatch& d) { return static_cast<std::int64_t>(d.cycles + 0.5); }

  void add_compute(std::string& text, const PassDispatch& d) const {
    const Work& w = *d.work;
    // Operations of one instruction: of a group of warps from Hopper on.
    const std::int64_t per_instruction = job_.gpu.architecture == "sm_80" ? 4096 : 524288;
    const double units = static_cast<double>(job_.gpu.num_units * job_.gpu.matrix_units_per_unit);
    const double busy = 100 * matrix_busy_cycles(job_, w) / (units * static_cast<double>(whole_cycles(d)));
    constexpr double kMostWarps = 64;
    fmt::format_to(std::back_inserter(text), ",\"{:.2f}\",\"{}\",\"{}\",\"{:.6f}\",\"{:.6f}\"",
                   d.cycles * occupied_share(job_, w), matrix_operations(w) / per_instruction, matrix_operations(w),
                   busy, 100 * static_cast<double>(resident_waves(job_, w)) / kMostWarps);
  }

  void add_memory(std::string& text, const Work& w) const {
    const Traffic traffic = traffic_of(job_, w);
    constexpr std::int64_t kLine = 128;
    fmt::format_to(std::back_inserter(text), ",\"{}\",\"{}\",\"{}\",\"{:.6f}\"", traffic.read_bytes(),
                   traffic.write_bytes(), (traffic.lines + traffic.hits) * kLine,
                   100 * static_cast<double>(traffic.hits) / static_cast<double>(traffic.lines + traffic.hits));
  }

  const PassProcess process_;
  const Job& job_;
  std::unique_ptr<ByteSink> sink_;
};

}  // namespace

Result<std::unique_ptr<PassWriter>> make_ncu_csv_writer(const PassProcess& process) {
  auto writer = std::make_unique<NcuCsvWriter>(process);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<PassWriter>(std::move(writer));
}

}  // namespace chopper::synth
