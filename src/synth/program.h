// SPDX-License-Identifier: Apache-2.0
// What one rank does in one iteration: a list of host instructions and tables of what they refer to. Ranks of the same
// pipeline stage share a program; only numbers (times, ids) differ between ranks and iterations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "synth/job.h"

namespace chopper::synth {

enum class Phase : std::uint8_t { forward, backward, optimizer, other };
enum class WorkClass : std::uint8_t { gemm, attention, vector, comm, memcpy_work, memset_work };
/// Whether work of the class is computation in the time line (spec 3).
inline bool is_compute(WorkClass c) {
  return c == WorkClass::gemm || c == WorkClass::attention || c == WorkClass::vector;
}

enum class Thread : std::uint8_t { main_thread, autograd_thread };
enum class Category : std::uint8_t { cpu_op, user_annotation, python_function };
/// What limits a kernel: operations of the matrix units, bytes of the memory, or neither (communication).
enum class Bound : std::uint8_t { compute, memory, none };

const char* to_string(Phase phase);
const char* to_string(WorkClass work_class);
const char* to_string(Bound bound);

/// Runtime calls, by what they are for; a writer knows the vendor's names.
enum class Call : std::uint8_t {
  launch,         ///< cudaLaunchKernel, hipLaunchKernel
  launch_module,  ///< cuLaunchKernelEx, hipExtModuleLaunchKernel: matrix multiplications
  launch_driver,  ///< cuLaunchKernel, hipModuleLaunchKernel: compiled kernels
  launch_comm,    ///< cudaLaunchKernelExC, hipExtLaunchKernel
  launch_graph,
  copy,
  fill,
  event_record,
  stream_wait,
  stream_synchronize,
  event_synchronize,
  device_synchronize,
  query,      ///< cudaStreamIsCapturing, hipStreamIsCapturing
  occupancy,  ///< cudaOccupancyMaxActiveBlocksPerMultiprocessor
};

/// Streams of one gpu as the job sees them. Peer streams of the pipeline follow.
enum class Stream : std::uint8_t {
  compute,
  copy_in,
  gather,
  reduce,
  tensor,
  context,
  receive_forward,
  send_forward,
  receive_backward,
  send_backward,
};
inline constexpr std::size_t kNumStreams = 10;

/// The ranks a collective spans, from the view of one rank.
enum class Group : std::uint8_t { none, world, data, tensor, context, previous_stage, next_stage };
inline constexpr std::size_t kNumGroups = 7;

/// A collective as the host asks for it.
struct Collective {
  std::string kind;    ///< "_allgather_base": what record_param_comms says
  std::string range;   ///< "nccl:_all_gather_base"
  std::string kernel;  ///< the part of an NCCL kernel's name: "AllGather_RING_LL"
  Group group = Group::none;
  std::string data_type;  ///< "BFloat16"
  std::int64_t elements_in = 0;
  std::int64_t elements_out = 0;
  std::int64_t bytes = 0;    ///< of the larger side
  double traffic_share = 1;  ///< bytes through a link of one rank / bytes: (n - 1) / n, or twice that
  std::int64_t launch_layer = -1;
};

/// A piece of gpu work, the same in every iteration.
struct Work {
  std::string name;
  WorkClass work_class = WorkClass::vector;
  Phase phase = Phase::other;
  std::int64_t layer = -1;  ///< -1: outside the blocks
  std::string operation;    ///< without the phase prefix; empty: none
  std::string fused_with;   ///< further operations in the same kernel, separated by spaces
  bool recompute = false;
  bool comm_copy = false;
  Bound bound = Bound::memory;
  double flops = 0;           ///< algorithmic
  double executed_flops = 0;  ///< with tile padding
  double bytes = 0;           ///< minimal
  double executed_bytes = 0;
  double theory_ns = 0;                 ///< flops / peak, or bytes / bandwidth
  double inst = 1, util = 1, rate = 1;  ///< the factors of spec 9 between theory and `alone_ns`
  double alone_ns = 0;                  ///< alone on the gpu, at peak clocks
  double insensitive = 0;               ///< m: share of the time that follows the memory clock
  double contention = 1;                ///< slow-down beside a transferring collective
  double core_activity = 0;             ///< share of `core_w` drawn while it runs
  double memory_activity = 0;
  Call call = Call::launch;
  Stream stream = Stream::compute;
  std::array<std::int64_t, 3> grid{1, 1, 1};  ///< in blocks
  std::array<std::int64_t, 3> block{256, 1, 1};
  std::int64_t registers = 32;
  std::int64_t shared_memory = 0;
  std::int64_t copy_bytes = 0;
  std::int32_t collective = -1;      ///< index into Program::collectives
  std::int64_t workspace_bytes = 0;  ///< to be zeroed before

  bool is_compute() const { return chopper::synth::is_compute(work_class); }
};

/// A host range: operator, annotation or Python frame.
struct Range {
  std::string name;
  Category category = Category::cpu_op;
  Thread thread = Thread::main_thread;
  std::string shapes;          ///< the keys about inputs as JSON text; empty: none
  std::int64_t sequence = -1;  ///< offset within the iteration; -1: none
  bool backward = false;
  std::int32_t parent = -1;       ///< index into Program::ranges
  std::int32_t collective = -1;   ///< of record_param_comms
  std::int32_t partner = -1;      ///< forward: its backward node
  bool iteration_number = false;  ///< the iteration's number is appended to the name
};

/// A runtime call; gpu work that it starts is the next `num_work` entries of Program::work.
struct HostCall {
  Call call = Call::launch;
  Thread thread = Thread::main_thread;
  std::int32_t range = -1;  ///< innermost operator or annotation around it
  std::int32_t work = -1;   ///< index of the first piece of work it starts
  std::int32_t num_work = 0;
  Stream stream = Stream::compute;
};

/// An allocation (bytes > 0) or release (bytes < 0).
struct MemoryChange {
  std::int64_t bytes = 0;
  std::int32_t range = -1;
  std::int64_t offset = 0;  ///< of the block's address in the heap
  Thread thread = Thread::main_thread;
  bool is_gathered = false;  ///< buffer of gathered parameters
};

enum class Action : std::uint8_t {
  open,          ///< index: range; cost before its first child
  close,         ///< index: range; cost after its last child
  call,          ///< index: call without gpu work
  launch,        ///< index: call with gpu work
  record,        ///< index: call; slot: event
  wait,          ///< index: call; slot: event that `stream` waits for
  synchronise,   ///< index: call; slot: event the host waits for
  drain,         ///< index: call; the host waits for all work of the gpu
  memory,        ///< index: memory change
  host_work,     ///< cost only
  data_loading,  ///< cost only, and the place of the fault "data-loading"
};

struct Instruction {
  Action action = Action::host_work;
  std::uint32_t index = 0;
  std::uint32_t cost_ns = 0;
  std::uint32_t slot = 0;
};

/// One iteration of one pipeline stage. All entries of a table are in order of first use by the host.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<Range> ranges;
  std::vector<HostCall> calls;
  std::vector<Work> work;
  std::vector<Collective> collectives;
  std::vector<MemoryChange> memory;
  std::uint32_t num_slots = 0;
  std::int64_t num_sequences = 0;
  bool has_optimizer = false;
};

/// Builds the program of pipeline stage `stage`, with or without the optimizer's step.
Program build_program(const Job& job, std::int64_t stage, bool with_optimizer);

}  // namespace chopper::synth
