// SPDX-License-Identifier: Apache-2.0
// One counter pass of one rank: the job's program run again, its computing kernels one after the other in the order the
// host dispatches them, communication left out, with a warm-up, clocks and flaws of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "synth/random.h"
#include "synth/run_writer.h"

namespace chopper::synth {

/// What is wrong with a dispatch.
enum class DispatchFlaw : std::uint8_t { none, extra, renamed, reordered };
std::string_view to_string(DispatchFlaw flaw);

struct PassDispatch {
  const Work* work = nullptr;
  std::string_view name;
  std::int64_t id = 0;  ///< as the profiler counts, from 1
  std::int64_t correlation = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  double core_mhz = 0;
  double cycles = 0;             ///< C: mean over the dies
  std::int32_t work_index = -1;  ///< into the program's work; -1: extra
  std::int32_t order = -1;       ///< among the computing kernels of the iteration; -1: extra
  DispatchFlaw flaw = DispatchFlaw::none;
};

/// A kernel of the program that this pass does not have.
struct MissingDispatch {
  std::int64_t iteration = 0;
  std::int32_t work_index = 0;
};

struct PassIteration {
  std::int64_t number = 0;       ///< as in the trace: equal numbers are the same iteration of the job
  std::int64_t correlation = 0;  ///< of the mark
  std::int64_t mark_start_ns = 0, mark_end_ns = 0;
  std::vector<PassDispatch> dispatches;
};

class PassExecution {
 public:
  PassExecution(const RunContext& context, std::int64_t pass, std::int64_t rank);

  /// Runs the next iteration; false when there is none. Names stay valid as long as this object.
  bool next(PassIteration& iteration);
  std::int64_t num_warmup() const { return warmup_; }
  std::int64_t num_iterations() const { return num_iterations_; }
  const std::vector<MissingDispatch>& missing() const { return missing_; }

 private:
  void list_dispatches(const Program& program, std::vector<PassDispatch>& dispatches);
  void add_extra(std::uint64_t bits, std::vector<PassDispatch>& dispatches);
  std::string_view renamed(std::string_view name);
  void run(PassIteration& iteration);
  double clock_mhz(std::uint64_t work) const;
  double flaw_amount(std::string_view name) const;
  std::uint64_t bits(Purpose purpose, std::uint64_t what) const;

  const RunContext& context_;
  const Job& job_;
  std::int64_t pass_, rank_;
  std::int64_t warmup_ = 0, num_iterations_ = 0, done_ = 0;
  std::int64_t now_ns_ = 0, iteration_end_ns_ = 0;
  std::int64_t next_id_ = 1, next_correlation_ = 1;
  double base_mhz_ = 0;
  std::deque<std::string> names_;  // of renamed and extra dispatches: kept in place
  std::deque<Work> extra_work_;
  std::vector<MissingDispatch> missing_;
};

}  // namespace chopper::synth
