// SPDX-License-Identifier: Apache-2.0
// The imperfections of one rank's file: what a writer asks before it writes a record, and the log of what was done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synth/job.h"

namespace chopper::synth {

/// One thing that is wrong with a file, for truth.json.
struct FlawRecord {
  std::string name;
  std::int64_t iteration = -1;  ///< as the profiler counts
  std::int64_t work = -1;       ///< index into the program's work; -1: no piece of work
  std::int64_t amount = 0;
};
using FlawLog = std::vector<FlawRecord>;

class Flaws {
 public:
  Flaws(const Job& job, std::int64_t rank, FlawLog& log);

  /// Time as the rank's clock shows it.
  std::int64_t shown(std::int64_t time_ns) const;
  /// Whether the next gpu record is missing.
  bool drops(std::int64_t iteration, std::int64_t work, std::int64_t stream);
  /// Whether the launch takes the correlation id of the one before.
  bool repeats_correlation(std::int64_t iteration, std::int64_t work);
  /// Whether the next gpu record has ts 0, or a duration beyond 63 bits.
  bool zeroes_time(std::int64_t iteration, std::int64_t work);
  bool overflows(std::int64_t iteration, std::int64_t work);
  /// Whether the next annotation's name contains a bare quote.
  bool breaks_quoting(std::int64_t iteration);
  /// Share of the text that is missing at the end, 0: none.
  double truncated_share() const { return truncated_; }
  void log_truncation(std::int64_t bytes);
  void log_clock();

 private:
  bool hit(double& left, std::int64_t every);

  const Job& job_;
  std::int64_t rank_;
  FlawLog& log_;
  double drop_first_ = 0, drop_share_ = 0, drop_stream_ = -1;
  double repeat_share_ = 0, zero_left_ = 0, overflow_left_ = 0, quotes_left_ = 0;
  double offset_ns_ = 0, drift_ppm_ = 0, truncated_ = 0;
  std::int64_t num_seen_ = 0, num_annotations_ = 0;
};

}  // namespace chopper::synth
