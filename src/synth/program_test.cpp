// SPDX-License-Identifier: Apache-2.0
// Properties of every program of every preset.
#include "synth/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "synth/parameters.h"
#include "synth/presets.h"
#include "synth/simulation.h"

namespace chopper::synth {
namespace {

class EveryProgram : public testing::TestWithParam<std::string> {
 protected:
  // Fewer layers: the programs repeat, and the tests need not.
  Job job() const {
    Result<Job> made = make_job(GetParam(), "");
    EXPECT_TRUE(made.ok());
    Job job = std::move(made).value();
    job.model.num_layers = job.pipeline_parallel * 2;
    return job;
  }
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Preset& preset : list_presets()) all.emplace_back(preset.name);
  return all;
}

void check_nesting(const Program& p) {
  std::vector<std::uint32_t> open;
  for (const Instruction& i : p.instructions) {
    if (i.action == Action::open) {
      const std::int32_t parent = p.ranges[i.index].parent;
      const bool same_thread = !open.empty() && p.ranges[open.back()].thread == p.ranges[i.index].thread;
      EXPECT_EQ(parent, same_thread ? static_cast<std::int32_t>(open.back()) : -1);
      open.push_back(i.index);
    } else if (i.action == Action::close) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), i.index);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

void check_calls(const Program& p) {
  std::vector<int> launched(p.work.size(), 0);
  for (const HostCall& call : p.calls) {
    for (std::int32_t k = 0; k < call.num_work; k++) launched[static_cast<std::size_t>(call.work + k)]++;
    ASSERT_LT(call.range, static_cast<std::int32_t>(p.ranges.size()));
    if (call.range >= 0) {
      const Range& range = p.ranges[static_cast<std::size_t>(call.range)];
      EXPECT_EQ(range.thread, call.thread);
      EXPECT_NE(range.category, Category::python_function);
    }
  }
  for (std::size_t i = 0; i < launched.size(); i++) EXPECT_EQ(launched[i], 1) << p.work[i].name;
}

// Numbers of forward operators are unique, and each backward number belongs to one.
void check_sequences(const Program& p) {
  std::set<std::int64_t> forward, backward;
  for (const Range& r : p.ranges) {
    if (r.sequence < 0) continue;
    ASSERT_LT(r.sequence, p.num_sequences + 1);
    (r.backward ? backward : forward).insert(r.sequence);
    EXPECT_TRUE(!r.backward || r.thread == Thread::autograd_thread) << r.name;
  }
  for (const std::int64_t number : backward) EXPECT_TRUE(forward.contains(number)) << number;
}

void check_labels(const Program& p) {
  for (const Work& w : p.work) {
    if (w.work_class == WorkClass::memcpy_work && w.phase == Phase::other) continue;
    EXPECT_FALSE(w.operation.empty() && (w.phase == Phase::forward || w.phase == Phase::optimizer)) << w.name;
    EXPECT_TRUE(w.layer >= 0 || (w.operation != "mlp_dp" && w.operation != "attn_fa")) << w.name;
    EXPECT_TRUE(w.bound == Bound::none || w.theory_ns > 0) << w.name;
  }
}

TEST_P(EveryProgram, IsWellFormed) {
  const Job made = job();
  for (std::int64_t stage = 0; stage < made.pipeline_parallel; stage++) {
    for (const bool with_optimizer : {false, true}) {
      const Program p = build_program(made, stage, with_optimizer);
      check_nesting(p);
      check_calls(p);
      check_sequences(p);
      check_labels(p);
    }
  }
}

TEST_P(EveryProgram, HasTheSameCollectivesOnAllRanksOfAGroup) {
  const Job made = job();
  if (made.pipeline_parallel == 1) return;
  // What one stage sends, the next receives: as many, of the same size.
  std::vector<std::int64_t> sent, received;
  for (std::int64_t stage = 0; stage < made.pipeline_parallel; stage++) {
    for (const Collective& c : build_program(made, stage, true).collectives) {
      if (c.kind == "send") sent.push_back(c.bytes);
      if (c.kind == "recv") received.push_back(c.bytes);
    }
  }
  EXPECT_EQ(sent, received);
  EXPECT_EQ(sent.size(), static_cast<std::size_t>(2 * made.micro_steps * (made.pipeline_parallel - 1)));
}

TEST_P(EveryProgram, BelongsToAJobThatFits) { EXPECT_TRUE(check_job(make_job(GetParam(), "").value()).ok()); }

INSTANTIATE_TEST_SUITE_P(Presets, EveryProgram, testing::ValuesIn(names()), [](const auto& preset) {
  std::string name = preset.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

TEST(Layout, GroupsPartitionTheJob) {
  Job job = make_job("tiny-fsdp2", "").value();
  job.world_size = 24;
  job.tensor_parallel = 2;
  job.context_parallel = 3;
  job.pipeline_parallel = 2;
  for (const Group group : {Group::world, Group::data, Group::tensor, Group::context}) {
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      const std::vector<std::int64_t> members = members_of(job, rank, group);
      EXPECT_TRUE(std::find(members.begin(), members.end(), rank) != members.end());
      for (const std::int64_t other : members) EXPECT_EQ(members_of(job, other, group), members);
    }
  }
  EXPECT_EQ(members_of(job, 0, Group::data).size(), 6u);
  EXPECT_EQ(members_of(job, 0, Group::next_stage), (std::vector<std::int64_t>{0, 12}));
  EXPECT_EQ(members_of(job, 12, Group::previous_stage), (std::vector<std::int64_t>{0, 12}));
}

}  // namespace
}  // namespace chopper::synth
