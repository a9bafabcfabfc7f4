// SPDX-License-Identifier: Apache-2.0
// Collectives: ranks arrive, the last one starts the transfer, all leave.
#include <algorithm>

#include "base/check.h"
#include "synth/random.h"
#include "synth/simulation_state.h"

namespace chopper::synth {

void Simulation::State::arrive(std::uint32_t rank, std::uint32_t stream, std::uint64_t key) {
  RankState& r = ranks[rank];
  const RunningStream& s = r.streams[stream];
  const Collective& collective =
      program_of(rank, s.item.iteration).collectives[static_cast<std::size_t>(s.work->collective)];
  Meeting& meeting = meetings[key];
  meeting.expected = static_cast<std::int64_t>(members[rank][static_cast<std::size_t>(collective.group)].size());
  meeting.members.emplace_back(rank, stream);
  if (static_cast<std::int64_t>(meeting.members.size()) < meeting.expected) return;
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
  if (!scenario.communication) return 0;
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
  double rate = (links > 0 ? links * job.gpu.link_gb_per_s : p.pcie_gb_per_s) * p.link_efficiency;
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
    schedule(now + static_cast<std::int64_t>(late * (scenario.communication ? job.physics.exit_jitter_ns : 0)),
             EventKind::collective_exit, rank, stream);
  }
  meetings.erase(found);
}

}  // namespace chopper::synth
