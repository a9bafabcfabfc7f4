// SPDX-License-Identifier: Apache-2.0
// Takes the records of rocprofv3's JSON apart, one object at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/rocprof/json_walk.h"
#include "model/counters.h"

namespace chopper::rocprof {

/// A kernel as the code objects of the process name it.
struct SdkKernel {
  std::int64_t id = kNoNumber;
  std::string name;
  std::int64_t num_vgpr = kNoNumber, num_accum_vgpr = kNoNumber, num_sgpr = kNoNumber;
};

/// A counter an agent has.
struct SdkCounter {
  std::int64_t id = kNoNumber, agent = kNoNumber;
  std::string name;
};

/// An agent, with the number by which records of the file mean it.
struct SdkAgent {
  std::int64_t handle = kNoNumber;
  AgentFacts facts;
};

/// Text of a mark, by the correlation id of its call.
struct SdkText {
  std::int64_t key = kNoNumber;
  std::string value;
};

/// A dispatch, a dispatch with counters, or a mark.
struct SdkRecord {
  bool has_dispatch = false;
  std::int64_t agent = kNoNumber, queue = kNoNumber, stream = kNoNumber, kernel = kNoNumber, dispatch = kNoNumber;
  std::int64_t scratch_bytes = kNoNumber, lds_bytes = kNoNumber;
  Extent workgroup, grid;
  std::int64_t num_work_items = kNoNumber, num_grid_items = kNoNumber;
  std::int64_t start_ns = kNoNumber, end_ns = kNoNumber, correlation = kNoNumber, thread = kNoNumber;
  std::int64_t num_vgpr = kNoNumber, num_accum_vgpr = kNoNumber, num_sgpr = kNoNumber;
  std::vector<std::pair<std::int64_t, double>> values;  ///< of counters, one for each instance of the hardware
};

class SdkParser {
 public:
  SdkParser();
  ~SdkParser();
  SdkParser(const SdkParser&) = delete;
  SdkParser& operator=(const SdkParser&) = delete;

  /// The id of a process in its metadata; kNoNumber where it is not stated.
  Taken metadata(std::string_view object, std::int64_t& process);
  Taken agent(std::string_view object, SdkAgent& agent);
  Taken kernel(std::string_view object, SdkKernel& kernel);
  Taken counter(std::string_view object, SdkCounter& counter);
  Taken text(std::string_view object, SdkText& text);
  Taken record(std::string_view object, SdkRecord& record);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chopper::rocprof
