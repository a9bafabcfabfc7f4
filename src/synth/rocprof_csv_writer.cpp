// SPDX-License-Identifier: Apache-2.0
// Counter passes as rocprofv3 writes CSV (formats.md 2.2): counter_collection, kernel_trace, agent_info and, where the
// program marks its iterations, marker_api_trace. The header drifted with each release.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "synth/counter_physics.h"
#include "synth/pass_settings.h"
#include "synth/pass_writer.h"
#include "synth/rocprof_agents.h"

namespace chopper::synth {
namespace {

enum class Release : std::uint8_t { rocm_6_2, rocm_6_3, rocm_6_4, rocm_7_0 };

Release release_of(const Job& job) {
  switch (counter_format(job)) {
    case CounterFormat::rocprofv3_6_2:
      return Release::rocm_6_2;
    case CounterFormat::rocprofv3_6_3:
      return Release::rocm_6_3;
    case CounterFormat::rocprofv3_6_4:
      return Release::rocm_6_4;
    default:
      return Release::rocm_7_0;
  }
}

std::string header(std::string_view names) {
  std::string text = "\"";
  for (const char c : names) c == ' ' ? text += "\",\"" : text += c;
  return text + "\"\n";
}

std::string_view counter_columns(Release release) {
  switch (release) {
    case Release::rocm_6_2:
      return "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Name Workgroup_Size "
             "LDS_Block_Size Scratch_Size VGPR_Count SGPR_Count Counter_Name Counter_Value";
    case Release::rocm_6_3:
      return "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Id Kernel_Name "
             "Workgroup_Size LDS_Block_Size Scratch_Size VGPR_Count SGPR_Count Counter_Name Counter_Value "
             "Start_Timestamp End_Timestamp";
    default:
      return "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Id Kernel_Name "
             "Workgroup_Size LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count Counter_Name "
             "Counter_Value Start_Timestamp End_Timestamp";
  }
}

std::string_view kernel_columns(Release release) {
  switch (release) {
    case Release::rocm_6_2:
      return "Kind Agent_Id Queue_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp End_Timestamp "
             "Private_Segment_Size Group_Segment_Size Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X "
             "Grid_Size_Y Grid_Size_Z";
    case Release::rocm_6_3:
    case Release::rocm_6_4:
      return "Kind Agent_Id Queue_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp "
             "End_Timestamp Private_Segment_Size Group_Segment_Size Workgroup_Size_X Workgroup_Size_Y "
             "Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z";
    case Release::rocm_7_0:
      return "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id "
             "Start_Timestamp End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count "
             "Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z";
  }
  return "";
}

class RocprofCsvWriter : public PassWriter {
 public:
  explicit RocprofCsvWriter(const PassProcess& process)
      : process_(process),
        job_(process.context.job),
        release_(release_of(job_)),
        dies_(die_shares(job_, process.rank)),
        counters_(counter_plan(job_)[static_cast<std::size_t>(process.pass)]),
        // Releases before 6.4 write the node of the driver, later ones the index over the visible agents.
        agent_(release_ < Release::rocm_6_4 ? fmt::format("{}", process.agent())
                                            : fmt::format("\"Agent {}\"", process.agent())) {}

  Result<Done> open() {
    CHOPPER_TRY(counters_sink_, create(process_, file("counter_collection")));
    CHOPPER_TRY(kernels_sink_, create(process_, file("kernel_trace")));
    CHOPPER_TRY([[maybe_unused]] const Done first, counters_sink_->write(header(counter_columns(release_))));
    CHOPPER_TRY([[maybe_unused]] const Done second, kernels_sink_->write(header(kernel_columns(release_))));
    marks_ = header("Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp");
    CHOPPER_TRY(const std::unique_ptr<ByteSink> agents, create(process_, file("agent_info")));
    CHOPPER_TRY([[maybe_unused]] const Done third, agents->write(agent_info_text(process_)));
    return agents->finish();
  }

  Result<Done> write(const PassIteration& iteration) override {
    std::string rows, kernels;
    for (const PassDispatch& dispatch : iteration.dispatches) {
      add_counters(rows, dispatch);
      add_kernel(kernels, dispatch);
    }
    fmt::format_to(std::back_inserter(marks_), "\"{}\",\"ProfilerStep#{}\",{},{},{},{},{}\n",
                   release_ == Release::rocm_7_0 ? "MARKER_CORE_RANGE_API" : "MARKER_CORE_API", iteration.number,
                   process_.pid(), process_.pid(), iteration.correlation, iteration.mark_start_ns,
                   iteration.mark_end_ns);
    CHOPPER_TRY([[maybe_unused]] const Done written, counters_sink_->write(rows));
    return kernels_sink_->write(kernels);
  }

  Result<Done> finish() override {
    CHOPPER_TRY([[maybe_unused]] const Done first, counters_sink_->finish());
    CHOPPER_TRY([[maybe_unused]] const Done second, kernels_sink_->finish());
    if (!job_.passes.marks) return Done{};
    CHOPPER_TRY(const std::unique_ptr<ByteSink> marks, create(process_, file("marker_api_trace")));
    CHOPPER_TRY([[maybe_unused]] const Done third, marks->write(marks_));
    return marks->finish();
  }

 private:
  std::string file(std::string_view table) const { return fmt::format("{}_{}.csv", process_.pid(), table); }

  // One row for each counter; only its last cells differ.
  void add_counters(std::string& rows, const PassDispatch& d) {
    const Work& work = *d.work;
    const std::int64_t group = work.block[0] * work.block[1] * work.block[2];
    // The product is computed in 32 bits.
    const auto grid = static_cast<std::uint32_t>(group * work.grid[0] * work.grid[1] * work.grid[2]);
    std::string head =
        fmt::format("{},{},{},1,{},{},{},", d.correlation, d.id, agent_, process_.pid(), process_.thread(work), grid);
    if (release_ != Release::rocm_6_2) fmt::format_to(std::back_inserter(head), "{},", kernel_ids_.of(d.name));
    fmt::format_to(std::back_inserter(head), "\"{}\",{},{},0,{},", d.name, group, local_bytes(work), work.registers);
    if (release_ >= Release::rocm_6_4) fmt::format_to(std::back_inserter(head), "{},", accumulator_registers(work));
    head += "112,";
    const std::string tail =
        release_ == Release::rocm_6_2 ? std::string("\n") : fmt::format(",{},{}\n", d.start_ns, d.end_ns);
    for (const Counter counter : counters_) {
      rows += head;
      fmt::format_to(std::back_inserter(rows), "\"{}\",", counter_name(job_, counter));
      add_value(rows, static_cast<double>(count_all(job_, dies_, work, counter, d.cycles)));
      rows += tail;
    }
  }

  void add_kernel(std::string& rows, const PassDispatch& d) {
    const Work& work = *d.work;
    auto to = std::back_inserter(rows);
    fmt::format_to(to, "\"KERNEL_DISPATCH\",{},1,", agent_);
    if (release_ == Release::rocm_7_0) fmt::format_to(to, "{},", static_cast<int>(work.stream));
    if (release_ != Release::rocm_6_2) fmt::format_to(to, "{},{},", process_.thread(work), d.id);
    fmt::format_to(to, "{},\"{}\",{},{},{},", kernel_ids_.of(d.name), d.name, d.correlation, d.start_ns, d.end_ns);
    if (release_ == Release::rocm_7_0) {
      fmt::format_to(to, "{},0,{},{},112,", local_bytes(work), work.registers, accumulator_registers(work));
    } else {
      fmt::format_to(to, "0,{},", local_bytes(work));
    }
    fmt::format_to(to, "{},{},{},{},{},{}\n", work.block[0], work.block[1], work.block[2], work.grid[0] * work.block[0],
                   work.grid[1] * work.block[1], work.grid[2] * work.block[2]);
  }

  const PassProcess process_;
  const Job& job_;
  Release release_;
  std::vector<double> dies_;
  std::vector<Counter> counters_;
  std::string agent_;
  KernelIds kernel_ids_;
  std::unique_ptr<ByteSink> counters_sink_, kernels_sink_;
  std::string marks_;
};

}  // namespace

Result<std::unique_ptr<PassWriter>> make_rocprof_csv_writer(const PassProcess& process) {
  auto writer = std::make_unique<RocprofCsvWriter>(process);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<PassWriter>(std::move(writer));
}

}  // namespace chopper::synth
