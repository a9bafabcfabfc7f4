// SPDX-License-Identifier: Apache-2.0
// The inside of Simulation: what hosts, streams and collectives remember, and what happens to them. Its functions are
// in simulation.cpp (events), simulated_host.cpp, simulated_gpu.cpp and simulated_collectives.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "synth/clock_loop.h"
#include "synth/simulation.h"

namespace chopper::synth {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMillisecond = 1'000'000;

enum class EventKind : std::uint8_t { host, check, finish, tick, transferred, collective_exit };

// Ordered by time, then by order of creation.
struct Event {
  std::int64_t time_ns;
  std::uint64_t order;
  EventKind kind;
  std::uint32_t rank;
  std::uint32_t stream;
  std::uint64_t version;  // finish: of the stream; transferred: key of the collective

  friend bool operator>(const Event& a, const Event& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.order > b.order;
  }
};

enum class ItemKind : std::uint8_t { work, record, wait };

// What the host has put into a stream.
struct Item {
  ItemKind kind = ItemKind::work;
  std::int64_t iteration = 0;
  std::uint32_t index = 0;     // of the work
  std::uint32_t instance = 0;  // of the event
  std::int64_t call_ns = 0;
  std::int64_t ready_ns = 0;
  std::uint64_t collective = 0;
};

struct RunningStream {
  std::deque<Item> queue;
  bool busy = false;
  Item item;
  const Work* work = nullptr;
  double remaining_ns = 0;              // at peak clocks, alone
  double rate = 0;                      // of remaining_ns per ns
  double core_mhz = 0, memory_mhz = 0;  // held clocks
  double core_cycles = 0, memory_cycles = 0;
  std::int64_t free_ns = 0;
  std::int64_t wait_done_ns = -1;  // the last event that held the stream up
  bool wait_was_collective = false;
  WorkClass previous_class = WorkClass::vector;
  bool transferring = false;
  std::uint64_t version = 0;
};

enum class Blocked : std::uint8_t { no, queue_full, event, drain };

struct EventInstance {
  std::int64_t done_ns = kNever;
  bool of_communication = false;
  bool host_waits = false;
  std::vector<std::uint32_t> streams;  // that wait
};

struct RankState {
  // Host.
  std::int64_t iteration = -1;
  const Program* program = nullptr;
  std::size_t next = 0;
  std::int64_t now_ns = 0;
  std::int64_t call_start_ns = 0;
  Blocked blocked = Blocked::no;
  std::uint32_t blocked_on = 0;
  std::int64_t sync_end_ns = -1;
  std::int64_t loading_start_ns = -1, loading_end_ns = -1;
  double speed = 1;
  bool finished = false;
  // Gpu.
  std::array<RunningStream, kNumStreams> streams;
  std::int64_t updated_ns = 0;
  std::int64_t compute_end_ns = 0;  // latest end of a compute kernel
  std::int64_t num_waiting = 0;     // launched, not started
  std::int64_t num_queued = 0;      // items of any kind, and running work
  double energy_nj = 0;             // W x ns since the last tick
  std::int64_t ticks = 0;
  std::int64_t spike_until_ns = 0;
  std::vector<ClockSample> samples;
  // Events: the current instance of each slot of the program, and all instances that may still be referred to.
  std::vector<std::uint32_t> slots;
  std::unordered_map<std::uint32_t, EventInstance> instances;
  std::uint32_t next_instance = 1;
  std::array<std::uint64_t, 16> channel_sequence{};  // by channel, and for transfers by side
  std::uint64_t num_launched = 0;
  std::deque<IterationTimes> times;
};

struct Meeting {
  std::int64_t expected = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // rank, stream
};

struct Simulation::State {
  State(const Job& j, const Programs& p, Scenario s);

  void run_until_complete(std::int64_t index);

  // Events.
  void schedule(std::int64_t time, EventKind kind, std::uint32_t rank, std::uint32_t stream = 0,
                std::uint64_t version = 0);
  void handle(const Event& event);
  // Host.
  void begin_iteration(std::uint32_t rank, std::int64_t index);
  void run_host(std::uint32_t rank);
  bool execute(std::uint32_t rank, const Instruction& instruction);
  std::int64_t cost_of(const RankState& r, std::uint32_t rank, const Instruction& instruction) const;
  void launch(std::uint32_t rank, const Instruction& instruction);
  void enqueue_event(std::uint32_t rank, const Instruction& instruction, bool is_record);
  void end_call(RankState& r, const Instruction& instruction, std::int64_t end);
  void unblock(std::uint32_t rank);
  double fault(const char* name, std::uint32_t rank) const;
  // Gpu.
  void check_stream(std::uint32_t rank, std::uint32_t stream);
  bool begin_work(std::uint32_t rank, std::uint32_t stream, const Item& item);
  void finish_work(std::uint32_t rank, std::uint32_t stream);
  void complete_event(std::uint32_t rank, std::uint32_t instance);
  void advance(RankState& r);
  void rerate(std::uint32_t rank);
  double slowdown(const RankState& r, std::size_t stream) const;
  double power_of(const RankState& r, std::uint32_t rank) const;
  void tick(std::uint32_t rank);
  GapCause prep_cause_of(const RankState& r, const Item& item, std::int64_t idle_since) const;
  GapCause call_cause_of(const RunningStream& s, const Item& item, std::int64_t idle_since) const;
  // Collectives.
  void arrive(std::uint32_t rank, std::uint32_t stream, std::uint64_t key);
  void transferred(std::uint64_t key);
  double transfer_ns(const Collective& collective, const Meeting& meeting, std::uint64_t key) const;

  IterationTimes& times_of(RankState& r, std::int64_t iteration) {
    return r.times[static_cast<std::size_t>(iteration - r.times.front().index)];
  }
  const Program& program_of(std::uint32_t rank, std::int64_t iteration) const {
    return programs.at(job, places[rank].stage, iteration);
  }

  const Job& job;
  const Programs& programs;
  Scenario scenario;
  std::int64_t total_iterations;
  std::vector<Place> places;
  std::vector<RankState> ranks;
  std::vector<ClockLoop> clocks;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::uint64_t next_order = 0;
  std::uint64_t num_progressing = 0;  // events that are no ticks: without one nothing can happen any more
  std::int64_t now = 0;
  std::unordered_map<std::uint64_t, Meeting> meetings;
  std::vector<std::array<std::vector<std::int64_t>, kNumGroups>> members;
};

}  // namespace chopper::synth
