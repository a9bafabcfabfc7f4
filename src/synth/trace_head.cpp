// SPDX-License-Identifier: Apache-2.0
#include "synth/trace_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "synth/random.h"
#include "synth/simulation.h"

namespace chopper::synth {
namespace {

struct Version {
  int major_part = 0, minor_part = 0;
};

// "gfx942" is 9.4, "sm_90" 9.0, "sm_100" 10.0.
Version compute_version(const GpuSpec& gpu) {
  int number = 0;
  for (const char c : gpu.architecture) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    if (gpu.vendor == "amd" && number >= 90) break;
  }
  return {number / 10, number % 10};
}

class HeadText {
 public:
  HeadText(const Job& job, std::int64_t rank) : job_(job), rank_(rank) {}

  std::string make(std::int64_t base_ns) {
    write_head(base_ns);
    return std::move(text_);
  }

  std::map<Group, std::string> arguments() const {
    std::map<Group, std::string> texts;
    for (const Group group :
         {Group::world, Group::data, Group::tensor, Group::context, Group::previous_stage, Group::next_stage}) {
      const std::int64_t index = number_of(group);
      const std::vector<std::int64_t> members = members_named(group);
      std::string ranks = "[";
      constexpr std::size_t kShown = 30;  // the profiler cuts longer lists
      for (std::size_t i = 0; i < std::min(members.size(), kShown); i++)
        ranks += fmt::format("{}{}", i == 0 ? "" : ", ", members[i]);
      ranks += members.size() > kShown ? ", ...]" : "]";
      const std::int64_t stride = members.size() > 1 ? members[1] - members[0] : 1;
      texts[group] = fmt::format(
          R"("Process Group Name": "{}", "Process Group Description": "{}", "Process Group Ranks": "{}", "Group size": {}, "Global rank start": {}, "Global rank stride": {})",
          index, description(index == 0 ? Group::world : group), ranks, members.size(), members.front(), stride);
    }
    return texts;
  }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }

  void write_head(std::int64_t base_ns) {
    const GpuSpec& gpu = job_.gpu;
    const Version version = compute_version(gpu);
    const bool amd = job_.dialect != Dialect::nvidia;
    text_ += "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n";
    const std::int64_t devices = std::min(job_.ranks_per_node, job_.world_size);
    for (std::int64_t i = 0; i < devices; i++) {
      add("    {{\n      \"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {},\n      \"computeMajor\": {}, "
          "\"computeMinor\": {},\n"
          "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n      \"regsPerBlock\": 65536, "
          "\"warpSize\": {},\n"
          "      \"sharedMemPerBlock\": {}, \"numSms\": {}\n    {}\n    }}{}\n",
          i, gpu.name, gpu.memory_bytes, version.major_part, version.minor_part, gpu.warp_size, amd ? 65536 : 49152,
          gpu.num_units,
          amd ? ", \"maxSharedMemoryPerMultiProcessor\": 65536"
              : ", \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                "\"sharedMemPerMultiprocessor\": 233472",
          i + 1 < devices ? "," : "");
    }
    text_ += "  ],\n";
    if (job_.dialect == Dialect::amd_queue) text_ += "  \"roctracer_version\": 4.1,\n";
    if (amd) {
      text_ += "  \"hip_runtime_version\": 70051831,\n  \"hip_driver_version\": 70051831,\n";
    } else {
      text_ += "  \"cupti_version\": 26,\n  \"cuda_runtime_version\": 12080,\n  \"cuda_driver_version\": 12080,\n";
    }
    if (job_.memory_events) text_ += "  \"profile_memory\": 1,\n";
    if (job_.shapes) text_ += "  \"record_shapes\": 1,\n";
    if (job_.stacks || job_.modules) text_ += "  \"with_stack\": 1,\n";
    if (job_.modules) text_ += "  \"with_modules\": 1,\n";
    write_distributed_info();
    add("  \"host_name\": \"node{}\",\n", rank_ / job_.ranks_per_node);
    add("  \"trace_id\": \"{:016X}{:016X}\",\n",
        random_bits(job_.seed, Purpose::trace_id, 0, static_cast<std::uint64_t>(rank_)),
        random_bits(job_.seed, Purpose::trace_id, 1, static_cast<std::uint64_t>(rank_)));
    add("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n  \"traceEvents\": [\n", base_ns);
  }

  void write_distributed_info() {
    const std::vector<Group> all = groups();
    add("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}, \"pg_count\": {}, "
        "\"pg_config\": [",
        rank_, job_.world_size, all.size());
    for (std::size_t i = 0; i < all.size(); i++) {
      add("{}{{\"pg_name\": \"{}\", \"pg_desc\": \"{}\", \"backend_config\": \"cuda:nccl\", \"pg_size\": {}, "
          "\"ranks\": {}}}",
          i == 0 ? "" : ", ", number_of(all[i]), description(all[i]), members_named(all[i]).size(), ranks_text(all[i]));
    }
    add("], \"nccl_version\": \"{}\"}},\n", job_.dialect == Dialect::nvidia ? "2.26.2" : "2.22.3");
  }

  std::string ranks_text(Group group) const {
    std::string text = "[";
    for (const std::int64_t member : members_named(group))
      fmt::format_to(std::back_inserter(text), "{}{}", text.size() == 1 ? "" : ", ", member);
    return text + "]";
  }

  // Transfers between stages use the group of all stages.
  std::vector<std::int64_t> members_named(Group group) const {
    if (group != Group::previous_stage && group != Group::next_stage) return members_of(job_, rank_, group);
    const std::int64_t per_stage = job_.world_size / job_.pipeline_parallel;
    std::vector<std::int64_t> members;
    for (std::int64_t stage = 0; stage < job_.pipeline_parallel; stage++) {
      members.push_back(rank_ % per_stage + stage * per_stage);
    }
    return members;
  }

  struct Dimension {
    Group group;
    std::int64_t size;   // ranks of one group
    std::int64_t place;  // which of the groups of this kind the rank is in
  };
  std::array<Dimension, 4> dimensions() const {
    const Place p = place_of(job_, rank_);
    const std::int64_t tp = job_.tensor_parallel, cp = job_.context_parallel, dp = job_.data_parallel();
    return {Dimension{Group::data, dp * cp, p.stage * tp + p.tensor},
            Dimension{Group::tensor, tp, (p.stage * dp + p.data) * cp + p.context},
            Dimension{Group::context, cp, (p.stage * dp + p.data) * tp + p.tensor},
            Dimension{Group::next_stage, job_.pipeline_parallel, (p.data * cp + p.context) * tp + p.tensor}};
  }

  // Groups have one name on all ranks: all of a kind are numbered before the next kind, as every process creates them
  // in the same order. 0 is the default group, also for a kind that spans the whole job.
  std::int64_t number_of(Group group) const {
    if (group == Group::previous_stage) group = Group::next_stage;
    std::int64_t next = 1;
    for (const Dimension& each : dimensions()) {
      const bool exists = each.size > 1 && each.size < job_.world_size;
      if (each.group == group) return exists ? next + each.place : 0;
      if (exists) next += job_.world_size / each.size;
    }
    return 0;
  }

  // Groups of this rank in the order of their numbers.
  std::vector<Group> groups() const {
    std::vector<Group> all{Group::world};
    for (const Dimension& each : dimensions()) {
      if (each.size > 1 && each.size < job_.world_size) all.push_back(each.group);
    }
    return all;
  }
  static std::string_view description(Group group) {
    switch (group) {
      case Group::data:
        return "mesh_dp";
      case Group::tensor:
        return "mesh_tp";
      case Group::context:
        return "mesh_cp";
      case Group::previous_stage:
      case Group::next_stage:
        return "mesh_pp";
      default:
        return "default_pg";
    }
  }

  const Job& job_;
  std::int64_t rank_;
  std::string text_;
};

}  // namespace

std::string trace_head(const Job& job, std::int64_t rank, std::int64_t base_ns) {
  return HeadText(job, rank).make(base_ns);
}

std::map<Group, std::string> group_arguments(const Job& job, std::int64_t rank) {
  return HeadText(job, rank).arguments();
}

}  // namespace chopper::synth
