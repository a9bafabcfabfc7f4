// SPDX-License-Identifier: Apache-2.0
#include "synth/counter_plan.h"

#include <iterator>

#include "synth/pass_settings.h"

namespace chopper::synth {
namespace {

struct CounterRow {
  Counter counter;
  CounterBlock block;
  std::string_view name;
  std::string_view name_gfx90a;  // where it differs
};
// In order of Counter.
constexpr CounterRow kCounters[] = {
    {Counter::grbm_count, CounterBlock::grbm, "GRBM_COUNT", ""},
    {Counter::gui_active, CounterBlock::grbm, "GRBM_GUI_ACTIVE", ""},
    {Counter::mops_bf16, CounterBlock::sq, "SQ_INSTS_VALU_MFMA_MOPS_BF16", ""},
    {Counter::mfma_busy, CounterBlock::sq, "SQ_VALU_MFMA_BUSY_CYCLES", ""},
    {Counter::busy_cu, CounterBlock::sq, "SQ_BUSY_CU_CYCLES", ""},
    {Counter::wave_cycles, CounterBlock::sq, "SQ_WAVE_CYCLES", ""},
    {Counter::active_valu, CounterBlock::sq, "SQ_ACTIVE_INST_VALU", ""},
    {Counter::thread_valu, CounterBlock::sq, "SQ_THREAD_CYCLES_VALU", ""},
    {Counter::lds_conflict, CounterBlock::sq, "SQ_LDS_BANK_CONFLICT", ""},
    {Counter::lds_active, CounterBlock::sq, "SQ_LDS_IDX_ACTIVE", ""},
    {Counter::active_lds, CounterBlock::sq, "SQ_ACTIVE_INST_LDS", ""},
    {Counter::read_requests, CounterBlock::tcc, "TCC_EA0_RDREQ", "TCC_EA_RDREQ"},
    {Counter::read_requests_32, CounterBlock::tcc, "TCC_EA0_RDREQ_32B", "TCC_EA_RDREQ_32B"},
    {Counter::read_requests_128, CounterBlock::tcc, "TCC_BUBBLE", ""},
    {Counter::write_requests, CounterBlock::tcc, "TCC_EA0_WRREQ", "TCC_EA_WRREQ"},
    {Counter::write_requests_64, CounterBlock::tcc, "TCC_EA0_WRREQ_64B", "TCC_EA_WRREQ_64B"},
    {Counter::cache_hit, CounterBlock::tcc, "TCC_HIT", ""},
    {Counter::cache_miss, CounterBlock::tcc, "TCC_MISS", ""},
    {Counter::cache_requests, CounterBlock::tcc, "TCC_REQ", ""},
};
constexpr std::int64_t kNcuPasses = 2;

const CounterRow& row_of(Counter counter) { return kCounters[static_cast<std::size_t>(counter)]; }

}  // namespace

CounterBlock block_of(Counter counter) { return row_of(counter).block; }

std::string_view block_name(CounterBlock block) {
  constexpr std::string_view kNames[] = {"GRBM", "SQ", "TCC"};
  return kNames[static_cast<std::size_t>(block)];
}

std::int64_t num_instances(const Job& job, CounterBlock block) {
  constexpr std::int64_t kPerDie[] = {1, 4, 16};
  return job.gpu.num_xccs * kPerDie[static_cast<std::size_t>(block)];
}

std::string_view counter_name(const Job& job, Counter counter) {
  const CounterRow& row = row_of(counter);
  return job.gpu.architecture == "gfx90a" && !row.name_gfx90a.empty() ? row.name_gfx90a : row.name;
}

std::vector<std::vector<Counter>> counter_plan(const Job& job) {
  using C = Counter;
  std::vector<std::vector<Counter>> plan = {
      {C::mops_bf16, C::mfma_busy, C::busy_cu, C::wave_cycles, C::gui_active, C::grbm_count},
      {C::active_valu, C::thread_valu, C::lds_conflict, C::lds_active, C::active_lds, C::gui_active}};
  const bool has_128 = job.gpu.architecture != "gfx90a";
  const std::vector<Counter> reads = has_128 ? std::vector{C::read_requests, C::read_requests_32, C::read_requests_128}
                                             : std::vector{C::read_requests, C::read_requests_32};
  const std::vector<Counter> writes = {C::write_requests, C::write_requests_64};
  const auto add = [&](std::vector<Counter> counters, std::initializer_list<Counter> more) {
    counters.insert(counters.end(), more);
    counters.push_back(C::gui_active);
    plan.push_back(std::move(counters));
  };
  if (counter_format(job) == CounterFormat::rocprofv3_6_2) {
    // That release keeps 512 instances of a dispatch: three counters of 128 channels each, at most.
    add(reads, {});
    add({C::cache_hit, C::cache_miss, C::cache_requests}, {});
    add(writes, {});
  } else {
    add(reads, {C::cache_hit});
    add(writes, {C::cache_miss, C::cache_requests});
  }
  return plan;
}

std::int64_t num_passes(const Job& job) {
  return counter_format(job) == CounterFormat::ncu ? kNcuPasses : static_cast<std::int64_t>(counter_plan(job).size());
}

}  // namespace chopper::synth
