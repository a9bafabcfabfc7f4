// SPDX-License-Identifier: Apache-2.0
// Hosts: they walk through their programs, launch, record and wait.
#include <algorithm>
#include <utility>

#include "synth/random.h"
#include "synth/simulation_state.h"

namespace chopper::synth {
namespace {

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

bool is_communication(std::size_t stream) {
  return stream != static_cast<std::size_t>(Stream::compute) && stream != static_cast<std::size_t>(Stream::copy_in);
}

}  // namespace

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
    if (share > 0) clocks[rank].limit(1 - share / 100);
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

}  // namespace chopper::synth
