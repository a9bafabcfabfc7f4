// SPDX-License-Identifier: Apache-2.0
#include "synth/dialect.h"

namespace chopper::synth {
namespace {

CallName nvidia_name(Call call) {
  constexpr std::string_view kRuntime = "cuda_runtime", kDriver = "cuda_driver";
  switch (call) {
    case Call::launch:
      return {"cudaLaunchKernel", kRuntime, 211};
    case Call::launch_module:
      return {"cuLaunchKernelEx", kDriver, 652};
    case Call::launch_driver:
      return {"cuLaunchKernel", kDriver, 307};
    case Call::launch_comm:
      return {"cudaLaunchKernelExC", kRuntime, 430};
    case Call::launch_graph:
      return {"cudaGraphLaunch", kRuntime, 311};
    case Call::copy:
      return {"cudaMemcpyAsync", kRuntime, 41};
    case Call::fill:
      return {"cudaMemsetAsync", kRuntime, 51};
    case Call::event_record:
      return {"cudaEventRecord", kRuntime, 135};
    case Call::stream_wait:
      return {"cudaStreamWaitEvent", kRuntime, 147};
    case Call::stream_synchronize:
      return {"cudaStreamSynchronize", kRuntime, 131};
    case Call::event_synchronize:
      return {"cudaEventSynchronize", kRuntime, 137};
    case Call::device_synchronize:
      return {"cudaDeviceSynchronize", kRuntime, 165};
    case Call::query:
      return {"cudaStreamIsCapturing", kRuntime, 317};
    case Call::occupancy:
      return {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", kRuntime, 251};
  }
  return {};
}

CallName amd_name(Call call) {
  constexpr std::string_view kRuntime = "cuda_runtime";
  switch (call) {
    case Call::launch:
      return {"hipLaunchKernel", kRuntime, 107};
    case Call::launch_module:
      return {"hipExtModuleLaunchKernel", kRuntime, 65};
    case Call::launch_driver:
      return {"hipModuleLaunchKernel", kRuntime, 169};
    case Call::launch_comm:
      return {"hipExtLaunchKernel", kRuntime, 62};
    case Call::launch_graph:
      return {"hipGraphLaunch", kRuntime, 215};
    case Call::copy:
      return {"hipMemcpyAsync", kRuntime, 134};
    case Call::fill:
      return {"hipMemsetAsync", kRuntime, 159};
    case Call::event_record:
      return {"hipEventRecord", kRuntime, 42};
    case Call::stream_wait:
      return {"hipStreamWaitEvent", kRuntime, 200};
    case Call::stream_synchronize:
      return {"hipStreamSynchronize", kRuntime, 170};
    case Call::event_synchronize:
      return {"hipEventSynchronize", kRuntime, 60};
    case Call::device_synchronize:
      return {"hipDeviceSynchronize", kRuntime, 48};
    case Call::query:
      return {"hipStreamIsCapturing", kRuntime, 290};
    case Call::occupancy:
      return {"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", kRuntime, 143};
  }
  return {};
}

}  // namespace

CallName call_name(Dialect dialect, Call call) {
  return dialect == Dialect::nvidia ? nvidia_name(call) : amd_name(call);
}

// No real AMD trace has them.
bool is_recorded(Dialect dialect, Call call) {
  return dialect == Dialect::nvidia || (call != Call::event_record && call != Call::occupancy);
}

bool counts_work_items(Dialect dialect, Call call) { return dialect != Dialect::nvidia && call == Call::launch_module; }

std::int64_t device_number(Dialect dialect, std::int64_t local) {
  constexpr std::int64_t kSockets = 2;  // the node index of the older backend counts them first
  return dialect == Dialect::amd_queue ? local + kSockets : local;
}

std::int64_t stream_number(Dialect dialect, Stream stream, bool is_copy) {
  const auto index = static_cast<std::int64_t>(stream);
  switch (dialect) {
    case Dialect::nvidia:
      return index == 0 ? 7 : 16 + 4 * index;
    case Dialect::amd_queue:
      return is_copy ? 0 : index % 4;  // streams are spread over four hardware queues
    case Dialect::amd_stream:
      return index;
  }
  return index;
}

bool fills_are_kernels(Dialect dialect) { return dialect == Dialect::amd_stream; }

}  // namespace chopper::synth
