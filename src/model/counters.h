// SPDX-License-Identifier: Apache-2.0
// Counter passes: what a profiler that counts hardware events recorded of one execution of a job. A pass is a set of
// (gpu, dispatch, counter) values, each with the place it was read at. One model for every format that holds counters;
// a file is read into a pass of its own, and files of one execution are put together by whoever aligns them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/string_table.h"
#include "model/tables.h"

namespace chopper {

/// What a file of a pass holds.
enum class PassContent : std::uint8_t { counters, kernel_times, agents, marks };
std::string_view to_string(PassContent content);

/// How a dispatch names its gpu. Numbers of different forms count different things (docs/reference/counters.md).
enum class AgentForm : std::uint8_t {
  node,     ///< a bare number: the node of the kernel driver, processors among them
  agent,    ///< "Agent 4": an index over all agents, of the driver or of those visible
  gpu,      ///< "GPU 0": an index over the gpus
  cpu,      ///< "CPU 0"
  unknown,  ///< another text
};

/// A device as dispatches name it.
struct PassDevice {
  AgentForm form = AgentForm::unknown;
  std::int64_t number = kNoNumber;
  std::string text;  ///< as written
};

/// An agent as the profiler describes it. kNoNumber and empty: not stated.
struct AgentFacts {
  std::int64_t node = kNoNumber;           ///< number of the kernel driver
  std::int64_t visible_index = kNoNumber;  ///< index over the agents the process could see
  std::int64_t type_index = kNoNumber;     ///< index over the agents of its type, in order of node
  bool is_gpu = false;
  std::string architecture;  ///< "gfx942", "sm_90": as the tables of gpus and metrics call it
  std::string product;       ///< "AMD Instinct MI300X"
  std::string vendor_name;
  std::int64_t num_xcc = kNoNumber;  ///< compute dies of the device, over which instances are summed
  std::int64_t num_cu = kNoNumber;   ///< SMs of an NVIDIA gpu
  std::int64_t num_simd = kNoNumber;
  std::int64_t wave_size = kNoNumber;
  std::int64_t max_clock_mhz = kNoNumber;  ///< of the compute units
  std::int64_t pci_domain = kNoNumber;
  std::int64_t pci_location = kNoNumber;  ///< bus, device and function in 8, 5 and 3 bits
  std::uint64_t offset = 0;
};

/// What all dispatches of one kernel, launched in one way, have in common: dictionary-encoded, since a pass has
/// millions of dispatches and some hundred of these.
struct PassKernel {
  StringId name = kNoString;
  std::int64_t kernel_id = kNoNumber;
  std::int64_t grid_size = kNoNumber;       ///< work-items; written in 32 bits by rocprofv3, so it can be wrapped
  std::int64_t workgroup_size = kNoNumber;  ///< work-items
  Extent grid;                              ///< work-items, not workgroups; unknown where only the product is written
  Extent workgroup;                         ///< work-items
  std::int64_t lds_bytes = kNoNumber;       ///< of a workgroup
  std::int64_t scratch_bytes = kNoNumber;   ///< of a work-item
  std::int64_t num_vgpr = kNoNumber;
  std::int64_t num_accum_vgpr = kNoNumber;
  std::int64_t num_sgpr = kNoNumber;
  friend bool operator==(const PassKernel&, const PassKernel&) = default;
};

/// Dispatches of a pass, in order of the file. Times are those of the dispatch in its pass, where kernels run one after
/// the other: good for the clock of the pass, not for overlap or launch gaps. kNoNumber: not recorded.
struct PassDispatchTable {
  std::vector<std::uint32_t> device;  ///< index into CounterPass::devices
  std::vector<std::uint32_t> kernel;  ///< index into CounterPass::kernels
  std::vector<std::int64_t> dispatch_id;
  std::vector<std::int64_t> correlation;
  std::vector<std::int64_t> process;
  std::vector<std::int64_t> thread;
  std::vector<std::int64_t> queue;
  std::vector<std::int64_t> stream;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::int64_t> duration_ns;  ///< known also where a profiler tells how long a kernel ran and not when
  std::vector<std::uint64_t> offset;      ///< byte of its first row in the uncompressed text

  static constexpr auto columns() {
    using T = PassDispatchTable;
    return std::make_tuple(&T::device, &T::kernel, &T::dispatch_id, &T::correlation, &T::process, &T::thread, &T::queue,
                           &T::stream, &T::start_ns, &T::end_ns, &T::duration_ns, &T::offset);
  }
};

/// Values, grouped by dispatch in order of PassDispatchTable; a dispatch has one value a counter at most.
struct CounterValueTable {
  std::vector<std::uint32_t> dispatch;  ///< row of PassDispatchTable
  std::vector<std::uint32_t> counter;   ///< index into CounterPass::counters
  std::vector<double> value;            ///< sum over the instances of the hardware
  std::vector<double> maximum;          ///< largest of the instances; NaN where the file has the sum alone
  std::vector<std::uint64_t> offset;    ///< byte of its row in the uncompressed text

  static constexpr auto columns() {
    using T = CounterValueTable;
    return std::make_tuple(&T::dispatch, &T::counter, &T::value, &T::maximum, &T::offset);
  }
};

/// Ranges and instants the job marked on the host while the pass ran: they tell its iterations.
struct PassMarkTable {
  std::vector<StringId> name;
  std::vector<std::int64_t> process;
  std::vector<std::int64_t> thread;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;  ///< equal to the start of an instant
  std::vector<std::uint64_t> offset;

  static constexpr auto columns() {
    using T = PassMarkTable;
    return std::make_tuple(&T::name, &T::process, &T::thread, &T::start_ns, &T::end_ns, &T::offset);
  }
};

/// What one file says about one pass.
struct CounterPass {
  PassContent content = PassContent::counters;
  std::string file;    ///< as shown
  std::string writer;  ///< releases whose header this is: "ROCm 6.4 or 7"
  StringTable strings;
  std::vector<PassDevice> devices;
  std::vector<PassKernel> kernels;
  std::vector<StringId> counters;       ///< names, in order of appearance
  std::vector<StringId> counter_units;  ///< of each counter: "byte", "ns"; empty where the format states none
  PassDispatchTable dispatches;
  CounterValueTable values;
  std::vector<AgentFacts> agents;  ///< in order of the file
  PassMarkTable marks;
};

// ---- what is kept of a pass once its tables are gone ----

/// A counter of a pass.
struct CounterCount {
  std::string name;
  std::int64_t num_values = 0;
};

/// A device of a pass.
struct PassDeviceSummary {
  PassDevice device;
  std::int64_t num_dispatches = 0;
  std::int64_t num_values = 0;
  AgentFacts facts;         ///< of its agent, where `agents_file` names the file that told
  std::string agents_file;  ///< empty: no file told
};

/// A file of a pass.
struct CounterPassSummary {
  PassContent content = PassContent::counters;
  std::string writer;
  std::int64_t num_dispatches = 0, num_kernels = 0, num_values = 0;
  std::int64_t num_timed = 0;          ///< dispatches with times
  std::int64_t num_with_duration = 0;  ///< those whose length is known, times or not
  std::int64_t num_marks = 0, num_mark_names = 0;
  std::vector<CounterCount> counters;
  std::vector<PassDeviceSummary> devices;
  std::vector<AgentFacts> agents;
};

/// Returns the counts of a pass; devices without facts.
CounterPassSummary summarise_pass(const CounterPass& pass);

}  // namespace chopper
