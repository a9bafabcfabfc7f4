// SPDX-License-Identifier: Apache-2.0
#include "synth/simulation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "synth/clock_loop.h"
#include "synth/random.h"

namespace chopper::synth {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMillisecond = 1'000'000;

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
  std::int64_t num_waiting = 0;  // launched, not started
  std::int64_t num_queued = 0;   // items of any kind, and running work
  double energy_nj = 0;          // W x ns since the last tick
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
  std::int64_t arrived_ns = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // rank, stream
};

bool is_communication(std::size_t stream) {
  return stream != static_cast<std::size_t>(Stream::compute) && stream != static_cast<std::size_t>(Stream::copy_in);
}

std::size_t channel_of(const Work& work, Group group) {
  switch (work.stream) {
    case Stream::receive_forward:
    case Stream::send_forward:
      return 5;
    case Stream::receive_backward:
    case Stream::send_backward:
      return 6;
    default:
      return static_cast<std::size_t>(group);
  }
}

}  // namespace

const char* to_string(GapCause cause) {
  switch (cause) {
    case GapCause::none:
      return "none";
    case GapCause::host:
      return "host";
    case GapCause::data_loading:
      return "data_loading";
    case GapCause::host_sync:
      return "host_sync";
    case GapCause::latency:
      return "latency";
    case GapCause::dependency:
      return "dependency";
    case GapCause::collective:
      return "collective";
  }
  return "";
}

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
  GapCause cause_of(const RankState& r, const RunningStream& s, const Item& item) const;
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
  std::int64_t now = 0;
  std::unordered_map<std::uint64_t, Meeting> meetings;
  std::vector<std::array<std::vector<std::int64_t>, kNumGroups>> members;
};

Simulation::State::State(const Job& j, const Programs& p, Scenario s)
    : job(j), programs(p), scenario(s), total_iterations(j.warmup_iterations + j.num_iterations) {
  const auto size = static_cast<std::size_t>(job.world_size);
  ranks.resize(size);
  members.resize(size);
  clocks.reserve(size);
  for (std::uint32_t rank = 0; rank < size; rank++) {
    places.push_back(place_of(job, rank));
    clocks.emplace_back(job, rank);
    RankState& r = ranks[rank];
    const double slower = fault("straggler", rank);
    clocks[rank].set_efficiency(std::clamp(1 - slower / 100, 0.05, 1.0));
    for (std::size_t group = 0; group < members[rank].size(); group++) {
      members[rank][group] = members_of(job, rank, static_cast<Group>(group));
    }
    r.speed = 1 + job.physics.host_spread * triangular(random_bits(job.seed, Purpose::host_speed, rank));
    const double late = unit(random_bits(job.seed, Purpose::process_start, rank));
    r.now_ns = static_cast<std::int64_t>(late * 200'000);
    if (!scenario.peak_clock && scenario.clocks == nullptr) {
      const double phase = unit(random_bits(job.seed, Purpose::sensor, rank));
      schedule(static_cast<std::int64_t>(phase * kMillisecond), EventKind::tick, rank);
    }
    begin_iteration(rank, 0);
    schedule(r.now_ns, EventKind::host, rank);
  }
}

double Simulation::State::fault(const char* name, std::uint32_t rank) const {
  double amount = 0;
  for (const Fault& f : job.faults) {
    if (f.name == name && (f.rank < 0 || f.rank == static_cast<std::int64_t>(rank))) amount += f.amount;
  }
  return amount;
}

void Simulation::State::schedule(std::int64_t time, EventKind kind, std::uint32_t rank, std::uint32_t stream,
                                 std::uint64_t version) {
  events.push({time, next_order++, kind, rank, stream, version});
}

void Simulation::State::run_until_complete(std::int64_t index) {
  const auto complete = [&] {
    return std::all_of(ranks.begin(), ranks.end(), [&](const RankState& r) {
      if (r.iteration < index) return false;
      const IterationTimes& t = r.times[static_cast<std::size_t>(index - r.times.front().index)];
      return t.host_done && t.num_unfinished == 0;
    });
  };
  std::uint64_t handled = 0;
  // Looking at all ranks after every event would cost more than the events.
  const std::uint64_t every = 64 + static_cast<std::uint64_t>(job.world_size) * 8;
  while (!events.empty() && (handled++ % every != 0 || !complete())) {
    const Event event = events.top();
    events.pop();
    now = event.time_ns;
    handle(event);
  }
  CHOPPER_CHECK(complete());
}

void Simulation::State::handle(const Event& event) {
  RankState& r = ranks[event.rank];
  switch (event.kind) {
    case EventKind::host:
      if (r.blocked == Blocked::no) run_host(event.rank);
      break;
    case EventKind::check:
      check_stream(event.rank, event.stream);
      break;
    case EventKind::finish:
      if (r.streams[event.stream].version == event.version) finish_work(event.rank, event.stream);
      break;
    case EventKind::tick:
      tick(event.rank);
      break;
    case EventKind::transferred:
      transferred(event.version);
      break;
    case EventKind::collective_exit:
      finish_work(event.rank, event.stream);
      break;
  }
}

// Host ----------------------------------------------------------------------------------------------------------------

void Simulation::State::begin_iteration(std::uint32_t rank, std::int64_t index) {
  RankState& r = ranks[rank];
  r.iteration = index;
  r.next = 0;
  r.program = &program_of(rank, index);
  r.slots.resize(std::max<std::size_t>(r.slots.size(), r.program->num_slots), 0);
  IterationTimes t;
  t.index = index;
  t.ranges.resize(r.program->ranges.size());
  t.calls.resize(r.program->calls.size());
  t.work.resize(r.program->work.size());
  t.memory_ns.resize(r.program->memory.size());
  t.num_unfinished = static_cast<std::int64_t>(t.work.size());
  if (scenario.host_cost) r.now_ns += static_cast<std::int64_t>(fault("late-rank", rank) * 1e6);
  if (index == job.warmup_iterations) {
    const double share = fault("thermal-throttle", rank);
    if (share > 0) clocks[rank].limit(job.gpu.max_clock_mhz * (1 - share / 100));
  }
  t.start_ns = r.now_ns;
  r.times.push_back(std::move(t));
}

std::int64_t Simulation::State::cost_of(const RankState& r, std::uint32_t rank, const Instruction& instruction) const {
  if (!scenario.host_cost) return 1;
  const auto key = static_cast<std::uint64_t>(r.iteration) << 32 | static_cast<std::uint64_t>(r.next);
  const std::uint64_t bits = random_bits(job.seed, Purpose::host_cost, rank, key);
  double jitter = job.physics.host_jitter;
  const double wider = fault("host-jitter", rank);
  if (wider > 0) jitter *= wider;
  // Costs are skewed: never much below the usual, sometimes well above.
  const double x = unit(bits);
  double cost = instruction.cost_ns * r.speed * (1 - 0.3 * jitter + jitter * x * x * 2);
  const std::uint64_t rare = random_bits(job.seed, Purpose::host_hiccup, rank, key);
  if (unit(rare) < job.physics.host_hiccup_share)
    cost += job.physics.host_hiccup_ns * (0.5 + unit(rare * 0x9e3779b97f4a7c15u));
  if (instruction.action == Action::data_loading) cost += fault("data-loading", rank) * 1e6;
  return std::max<std::int64_t>(20, static_cast<std::int64_t>(cost));
}

// Runs the host until it must wait, for the gpu or for the rest of the simulation to catch up with it.
void Simulation::State::run_host(std::uint32_t rank) {
  RankState& r = ranks[rank];
  while (true) {
    if (r.next == r.program->instructions.size()) {
      IterationTimes& t = r.times.back();
      t.end_ns = r.now_ns;
      t.host_done = true;
      if (r.iteration + 1 == total_iterations) {
        r.finished = true;
        return;
      }
      begin_iteration(rank, r.iteration + 1);
      continue;
    }
    if (!execute(rank, r.program->instructions[r.next])) return;
    r.next++;
  }
}

// Returns false when the instruction cannot be done yet: an event will come back to it.
bool Simulation::State::execute(std::uint32_t rank, const Instruction& i) {
  RankState& r = ranks[rank];
  IterationTimes& t = r.times.back();
  const bool meets_gpu = i.action == Action::launch || i.action == Action::record || i.action == Action::wait ||
                         i.action == Action::synchronise || i.action == Action::drain;
  if (meets_gpu && r.now_ns > now) {
    schedule(r.now_ns, EventKind::host, rank);
    return false;
  }
  const std::int64_t cost = cost_of(r, rank, i);
  switch (i.action) {
    case Action::open:
      t.ranges[i.index].start_ns = r.now_ns;
      r.now_ns += cost;
      return true;
    case Action::close:
      r.now_ns += cost;
      t.ranges[i.index].end_ns = r.now_ns;
      return true;
    case Action::host_work:
      r.now_ns += cost;
      return true;
    case Action::data_loading:
      r.loading_start_ns = r.now_ns;
      r.now_ns += cost;
      r.loading_end_ns = r.now_ns;
      return true;
    case Action::memory:
      t.memory_ns[i.index] = r.now_ns;
      r.now_ns += cost;
      return true;
    case Action::call:
      r.call_start_ns = r.now_ns;
      end_call(r, i, r.now_ns + cost);
      return true;
    case Action::record:
    case Action::wait:
      r.call_start_ns = r.now_ns;
      enqueue_event(rank, i, i.action == Action::record);
      end_call(r, i, r.now_ns + cost);
      return true;
    case Action::launch:
      if (r.blocked == Blocked::no) r.call_start_ns = r.now_ns;
      if (static_cast<double>(r.num_waiting) >= job.physics.queue_depth) {
        r.blocked = Blocked::queue_full;
        return false;
      }
      launch(rank, i);
      return true;
    case Action::synchronise: {
      r.call_start_ns = r.now_ns;
      const auto found = r.instances.find(r.slots[i.slot]);
      if (found != r.instances.end() && found->second.done_ns == kNever) {
        found->second.host_waits = true;
        r.blocked = Blocked::event;
        r.blocked_on = found->first;
        return false;
      }
      end_call(r, i, r.now_ns + cost);
      return true;
    }
    case Action::drain:
      r.call_start_ns = r.now_ns;
      if (r.num_queued > 0) {
        r.blocked = Blocked::drain;
        return false;
      }
      end_call(r, i, r.now_ns + cost);
      return true;
  }
  return true;
}

void Simulation::State::end_call(RankState& r, const Instruction& i, std::int64_t end) {
  r.times.back().calls[i.index] = {r.call_start_ns, end};
  r.now_ns = end;
}

// The condition the host waited for has come: the instruction it stands at is finished now.
void Simulation::State::unblock(std::uint32_t rank) {
  RankState& r = ranks[rank];
  const Instruction& i = r.program->instructions[r.next];
  const Blocked was = std::exchange(r.blocked, Blocked::no);
  r.now_ns = std::max(r.now_ns, now);
  if (was == Blocked::queue_full) {
    launch(rank, i);
  } else {
    end_call(r, i, r.now_ns + (scenario.host_cost ? 1500 : 1));
    r.sync_end_ns = r.now_ns;
  }
  r.next++;
  schedule(r.now_ns, EventKind::host, rank);
}

void Simulation::State::launch(std::uint32_t rank, const Instruction& i) {
  RankState& r = ranks[rank];
  const HostCall& call = r.program->calls[i.index];
  const std::uint64_t bits =
      random_bits(job.seed, Purpose::launch_latency, rank, static_cast<std::uint64_t>(r.iteration), i.index);
  const double latency =
      scenario.host_cost ? job.physics.launch_latency_ns * (0.85 + 0.5 * unit(bits) * unit(bits)) : 1;
  const std::int64_t started = r.now_ns;
  std::int64_t cost = cost_of(r, rank, i);
  const Work& first = r.program->work[static_cast<std::size_t>(call.work)];
  // FSDP 1: now and then the allocator has to give memory back before a gather can have its buffer.
  if (job.sharding == Sharding::fsdp1 && first.stream == Stream::gather && scenario.host_cost) {
    const std::uint64_t retry = random_bits(job.seed, Purpose::allocator_stall, rank, r.num_launched);
    if (unit(retry) < job.physics.allocator_retry_share)
      cost += static_cast<std::int64_t>(job.physics.allocator_retry_ns);
  }
  for (std::int32_t k = 0; k < call.num_work; k++) {
    const auto index = static_cast<std::uint32_t>(call.work + k);
    const Work& work = r.program->work[index];
    Item item;
    item.iteration = r.iteration;
    item.index = index;
    item.call_ns = r.call_start_ns;
    item.ready_ns = started + static_cast<std::int64_t>(latency);
    if (work.collective >= 0) {
      const Group group = r.program->collectives[static_cast<std::size_t>(work.collective)].group;
      const std::size_t channel = channel_of(work, group);
      const bool is_send = work.stream == Stream::send_forward || work.stream == Stream::send_backward;
      const auto lowest = static_cast<std::uint64_t>(members[rank][static_cast<std::size_t>(group)].front());
      // All members launch the collectives of a channel in the same order, so the count names the meeting. Transfers
      // between stages count by direction and by side: a middle stage receives from one and sends to the other.
      item.collective = static_cast<std::uint64_t>(channel) << 60 | lowest << 40 |
                        ++r.channel_sequence[2 * channel + (is_send ? 1 : 0)];
    }
    r.streams[static_cast<std::size_t>(work.stream)].queue.push_back(item);
    r.num_waiting++;
    r.num_queued++;
  }
  r.num_launched++;
  end_call(r, i, r.now_ns + cost);
  check_stream(rank, static_cast<std::uint32_t>(first.stream));
}

void Simulation::State::enqueue_event(std::uint32_t rank, const Instruction& i, bool is_record) {
  RankState& r = ranks[rank];
  const auto stream = static_cast<std::uint32_t>(r.program->calls[i.index].stream);
  Item item;
  item.ready_ns = r.now_ns;
  if (is_record) {
    item.kind = ItemKind::record;
    item.instance = r.next_instance++;
    r.slots[i.slot] = item.instance;
    r.instances[item.instance].of_communication = is_communication(stream);
  } else {
    item.kind = ItemKind::wait;
    item.instance = r.slots[i.slot];
    const auto found = r.instances.find(item.instance);
    if (found == r.instances.end() || found->second.done_ns <= now) return;  // nothing to wait for
  }
  r.streams[stream].queue.push_back(item);
  r.num_queued++;
  check_stream(rank, stream);
}

// Gpu -----------------------------------------------------------------------------------------------------------------

void Simulation::State::check_stream(std::uint32_t rank, std::uint32_t stream) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  while (!s.busy && !s.queue.empty()) {
    const Item item = s.queue.front();
    if (item.kind == ItemKind::wait) {
      const auto found = r.instances.find(item.instance);
      if (found != r.instances.end() && found->second.done_ns == kNever) {
        std::vector<std::uint32_t>& waiting = found->second.streams;
        if (std::find(waiting.begin(), waiting.end(), stream) == waiting.end()) waiting.push_back(stream);
        return;
      }
      s.queue.pop_front();
      r.num_queued--;
      continue;
    }
    if (item.ready_ns > now) return schedule(item.ready_ns, EventKind::check, rank, stream);
    if (item.kind == ItemKind::record) {
      s.queue.pop_front();
      r.num_queued--;
      complete_event(rank, item.instance);
      continue;
    }
    if (!begin_work(rank, stream, item)) return;
  }
  if (r.num_queued == 0 && r.blocked == Blocked::drain) unblock(rank);
}

void Simulation::State::complete_event(std::uint32_t rank, std::uint32_t instance) {
  RankState& r = ranks[rank];
  EventInstance& event = r.instances[instance];
  event.done_ns = now;
  const std::vector<std::uint32_t> streams = std::exchange(event.streams, {});
  const bool host_waits = event.host_waits;
  const bool of_communication = event.of_communication;
  for (const std::uint32_t stream : streams) {
    r.streams[stream].wait_done_ns = now;
    r.streams[stream].wait_was_collective = of_communication;
    schedule(now, EventKind::check, rank, stream);
  }
  if (host_waits && r.blocked == Blocked::event && r.blocked_on == instance) unblock(rank);
  // A slot that is recorded again forgets its older instances; those that are done and not current are dropped.
  if (r.instances.size() > 4 * r.slots.size() + 64) {
    const std::uint32_t old = r.next_instance - static_cast<std::uint32_t>(3 * r.slots.size()) - 32;
    std::erase_if(r.instances, [&](const auto& entry) { return entry.first < old && entry.second.done_ns != kNever; });
  }
}

GapCause Simulation::State::cause_of(const RankState& r, const RunningStream& s, const Item& item) const {
  if (s.wait_done_ns > s.free_ns && s.wait_done_ns >= item.ready_ns) {
    return s.wait_was_collective ? GapCause::collective : GapCause::dependency;
  }
  if (item.ready_ns <= s.free_ns) return GapCause::none;
  if (item.call_ns <= s.free_ns) return GapCause::latency;
  const std::int64_t late = item.call_ns - s.free_ns;
  const std::int64_t loading = std::min(item.call_ns, r.loading_end_ns) - std::max(s.free_ns, r.loading_start_ns);
  if (2 * loading > late) return GapCause::data_loading;
  if (r.sync_end_ns >= s.free_ns) return GapCause::host_sync;
  return GapCause::host;
}

// Starts `item` if the stream's pause since its last work is over.
bool Simulation::State::begin_work(std::uint32_t rank, std::uint32_t stream, const Item& item) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  const auto iteration = static_cast<std::uint64_t>(item.iteration);
  const double pause = unit(random_bits(job.seed, Purpose::queue_gap, rank, iteration, item.index));
  const double gap = scenario.host_cost ? job.physics.queue_gap_ns * (0.7 + 0.6 * pause) : 0;
  const std::int64_t earliest = s.free_ns == 0 ? 0 : s.free_ns + static_cast<std::int64_t>(gap);
  if (earliest > now) {
    schedule(earliest, EventKind::check, rank, stream);
    return false;
  }
  advance(r);
  const Program& program = program_of(rank, item.iteration);
  s.queue.pop_front();
  s.item = item;
  s.work = &program.work[item.index];
  s.busy = true;
  s.transferring = false;
  s.core_cycles = s.memory_cycles = 0;
  WorkTime& time = times_of(r, item.iteration).work[item.index];
  time.call_ns = item.call_ns;
  time.start_ns = now;
  time.cause = cause_of(r, s, item);
  r.num_waiting--;
  const double noise = bell(random_bits(job.seed, Purpose::kernel_duration, rank, iteration, item.index));
  time.variation = 1 + job.physics.kernel_jitter * noise;
  s.remaining_ns = std::max(1.0, s.work->alone_ns * time.variation);
  s.core_mhz = job.gpu.clock_mhz;
  s.memory_mhz = job.gpu.memory_clock_mhz;
  if (scenario.clocks != nullptr) {
    const auto& [core, memory] = (*scenario.clocks)[rank][static_cast<std::size_t>(item.iteration)][item.index];
    s.core_mhz = static_cast<double>(core);
    s.memory_mhz = static_cast<double>(memory);
  }
  s.version++;
  if (s.work->collective >= 0) {
    if (!scenario.communication) {
      s.remaining_ns = 0;
      schedule(now, EventKind::collective_exit, rank, stream);
    } else {
      arrive(rank, stream, item.collective);
    }
  }
  rerate(rank);
  if (r.blocked == Blocked::queue_full && static_cast<double>(r.num_waiting) < job.physics.queue_depth) unblock(rank);
  return true;
}

void Simulation::State::finish_work(std::uint32_t rank, std::uint32_t stream) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  advance(r);
  IterationTimes& t = times_of(r, s.item.iteration);
  WorkTime& time = t.work[s.item.index];
  time.end_ns = std::max(now, time.start_ns + (scenario.communication || s.work->collective < 0 ? 1 : 0));
  time.core_cycles = s.core_cycles;
  time.memory_cycles = s.memory_cycles;
  t.num_unfinished--;
  s.busy = false;
  s.work = nullptr;
  s.free_ns = time.end_ns;
  s.version++;
  r.num_queued--;
  rerate(rank);
  check_stream(rank, stream);
}

// Brings the running work up to now at the rates of the last change.
void Simulation::State::advance(RankState& r) {
  const auto elapsed = static_cast<double>(now - r.updated_ns);
  if (elapsed <= 0) return;
  const auto rank = static_cast<std::uint32_t>(&r - ranks.data());
  const bool own_clock = !scenario.peak_clock && scenario.clocks == nullptr;
  r.energy_nj += power_of(r, rank) * elapsed;
  for (RunningStream& s : r.streams) {
    if (!s.busy) continue;
    s.remaining_ns -= s.rate * elapsed;
    s.core_cycles += elapsed * (own_clock ? clocks[rank].core_mhz() : s.core_mhz);
    s.memory_cycles += elapsed * (own_clock ? clocks[rank].memory_mhz() : s.memory_mhz);
  }
  r.updated_ns = now;
}

// How much longer the work of `stream` takes for what runs beside it.
double Simulation::State::slowdown(const RankState& r, std::size_t stream) const {
  const Work& work = *r.streams[stream].work;
  double level = 0, copies = 0;
  for (std::size_t other = 0; other < kNumStreams; other++) {
    const RunningStream& s = r.streams[other];
    if (other == stream || !s.busy) continue;
    if (s.work->collective >= 0) {
      level = std::max(level, s.transferring ? 1.0 : job.physics.contention_waiting);
    } else {
      copies = 1;
    }
  }
  if (!scenario.communication) return 1;
  return (1 + (work.contention - 1) * level) * (1 + (job.physics.contention_copy - 1) * copies);
}

void Simulation::State::rerate(std::uint32_t rank) {
  RankState& r = ranks[rank];
  const bool own_clock = !scenario.peak_clock && scenario.clocks == nullptr;
  for (std::uint32_t stream = 0; stream < kNumStreams; stream++) {
    RunningStream& s = r.streams[stream];
    if (!s.busy || s.work->collective >= 0) continue;
    const double core = own_clock ? clocks[rank].core_mhz() : s.core_mhz;
    const double memory = own_clock ? clocks[rank].memory_mhz() : s.memory_mhz;
    const double m = s.work->insensitive;
    const double memory_share = job.gpu.memory_clock_mhz > 0 ? job.gpu.memory_clock_mhz / memory : 1.0;
    s.rate = 1 / (((1 - m) * job.gpu.clock_mhz / core + m * memory_share) * slowdown(r, stream));
    const double left = std::max(0.0, s.remaining_ns) / s.rate;
    auto whole = static_cast<std::int64_t>(left);
    if (static_cast<double>(whole) < left) whole++;
    schedule(now + whole, EventKind::finish, rank, stream, ++s.version);
  }
}

double Simulation::State::power_of(const RankState& r, std::uint32_t rank) const {
  double core = 0, memory = 0, link = 0;
  for (std::size_t stream = 0; stream < kNumStreams; stream++) {
    const RunningStream& s = r.streams[stream];
    if (!s.busy) continue;
    core += s.work->core_activity;
    memory += s.work->memory_activity * (s.work->collective >= 0 && !s.transferring ? 0.1 : 1.0);
    if (s.work->collective >= 0) link = s.transferring ? 1.0 : std::max(link, 0.1);
  }
  return clocks[rank].power(std::min(core, 1.0), std::min(memory, 1.2), link,
                            now <= r.spike_until_ns ? job.physics.allocator_spike_w : 0.0);
}

void Simulation::State::tick(std::uint32_t rank) {
  RankState& r = ranks[rank];
  advance(r);
  const double mean_w = r.energy_nj / kMillisecond;
  r.energy_nj = 0;
  clocks[rank].tick(mean_w, r.ticks++);
  if (r.iteration >= job.warmup_iterations) {
    r.samples.push_back({now, clocks[rank].core_mhz(), clocks[rank].memory_mhz(), mean_w});
  }
  // FSDP 1 reuses memory in an order that differs from run to run; what that does to the power of the memory is
  // modelled as spikes that begin at random.
  const std::uint64_t spike = random_bits(job.seed, Purpose::allocator, rank, static_cast<std::uint64_t>(r.ticks));
  if (job.sharding == Sharding::fsdp1 && now > r.spike_until_ns && unit(spike) < job.physics.allocator_spike_share) {
    const double length = 0.5 + unit(spike * 0x9e3779b97f4a7c15u);
    r.spike_until_ns = now + static_cast<std::int64_t>(job.physics.allocator_spike_ms * 1e6 * length);
  }
  rerate(rank);
  if (!r.finished || r.num_queued > 0) schedule(now + kMillisecond, EventKind::tick, rank);
}

// Collectives ---------------------------------------------------------------------------------------------------------

void Simulation::State::arrive(std::uint32_t rank, std::uint32_t stream, std::uint64_t key) {
  RankState& r = ranks[rank];
  const RunningStream& s = r.streams[stream];
  const Collective& collective =
      program_of(rank, s.item.iteration).collectives[static_cast<std::size_t>(s.work->collective)];
  Meeting& meeting = meetings[key];
  meeting.expected = static_cast<std::int64_t>(members[rank][static_cast<std::size_t>(collective.group)].size());
  meeting.members.emplace_back(rank, stream);
  if (static_cast<std::int64_t>(meeting.members.size()) < meeting.expected) return;
  meeting.arrived_ns = now;
  const double length = transfer_ns(collective, meeting, key);
  schedule(now + std::max<std::int64_t>(1, static_cast<std::int64_t>(length)), EventKind::transferred, rank, stream,
           key);
  for (const auto& [member, where] : meeting.members) {
    RankState& other = ranks[member];
    if (member != rank) advance(other);
    other.streams[where].transferring = true;
    times_of(other, other.streams[where].item.iteration).work[other.streams[where].item.index].all_arrived_ns = now;
    if (member != rank) rerate(member);
  }
}

double Simulation::State::transfer_ns(const Collective& collective, const Meeting& meeting, std::uint64_t key) const {
  const Physics& p = job.physics;
  std::int64_t lowest = kNever, highest = 0;
  double busy = 0, slowest = 0;
  for (const auto& [member, stream] : meeting.members) {
    lowest = std::min<std::int64_t>(lowest, member);
    highest = std::max<std::int64_t>(highest, member);
    busy += ranks[member].streams[static_cast<std::size_t>(Stream::compute)].busy ? 1.0 : 0.0;
    slowest = std::max(slowest, fault("slow-link", member));
  }
  const bool in_node = lowest / job.ranks_per_node == highest / job.ranks_per_node;
  const auto peers = static_cast<double>(meeting.members.size() - 1);
  // Fully connected links serve one peer each; a switch gives every pair all links.
  const auto all_links = static_cast<double>(job.gpu.num_links);
  const double links = job.gpu.vendor == "amd" ? std::min(peers, all_links) : all_links;
  constexpr double kPcie = 25;  // GB/s, without links between the gpus
  double rate = (links > 0 ? links * job.gpu.link_gb_per_s : kPcie) * p.link_efficiency;
  if (!in_node) rate = std::min(rate, p.nic_gb_per_s);
  const double share = busy / static_cast<double>(meeting.members.size());
  const double noise = bell(random_bits(job.seed, Purpose::transfer, key));
  const double latency = p.collective_latency_ns * (in_node ? 1.0 : 2.0);
  return latency + static_cast<double>(collective.bytes) * collective.traffic_share / rate *
                       (1 + p.contention_transfer * share) * (1 + slowest / 100) *
                       std::max(0.5, 1 + p.transfer_jitter * noise);
}

void Simulation::State::transferred(std::uint64_t key) {
  const auto found = meetings.find(key);
  CHOPPER_CHECK(found != meetings.end());
  for (const auto& [rank, stream] : found->second.members) {
    const double late = unit(random_bits(job.seed, Purpose::collective_exit, rank, key));
    schedule(now + static_cast<std::int64_t>(late * job.physics.exit_jitter_ns), EventKind::collective_exit, rank,
             stream);
  }
  meetings.erase(found);
}

// Simulation ----------------------------------------------------------------------------------------------------------

Simulation::Simulation(const Job& job, const Programs& programs, Scenario scenario)
    : state_(std::make_unique<State>(job, programs, scenario)) {}
Simulation::~Simulation() = default;

void Simulation::run_until_complete(std::int64_t index) { state_->run_until_complete(index); }

const IterationTimes& Simulation::times(std::int64_t rank, std::int64_t index) const {
  RankState& r = state_->ranks[static_cast<std::size_t>(rank)];
  return state_->times_of(r, index);
}

void Simulation::forget(std::int64_t index) {
  for (RankState& r : state_->ranks) {
    if (r.times.size() > 1 && r.times.front().index == index) r.times.pop_front();
  }
}

std::vector<ClockSample> Simulation::take_clocks(std::int64_t rank) {
  return std::exchange(state_->ranks[static_cast<std::size_t>(rank)].samples, {});
}

}  // namespace chopper::synth
