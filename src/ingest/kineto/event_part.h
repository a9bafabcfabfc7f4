// SPDX-License-Identifier: Apache-2.0
// The rows one batch of events becomes, and the dictionary of the worker that made them. Ids are local to the worker
// until the parts are assembled.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/string_table.h"
#include "ingest/kineto/counter_ranges.h"
#include "model/health.h"
#include "model/tables.h"

namespace chopper {

/// Which table a span went to.
enum class SpanTable : std::uint8_t { gpu_work, launches, ranges, none };

/// A begin or end event (ph B, E) waiting for its partner. Begins of kept tables already have a row, whose duration is
/// set later.
struct OpenSpan {
  bool begin = true;
  bool named = true;
  SpanTable table = SpanTable::none;
  std::uint32_t row = 0;
  ThreadId thread{};
  StringId name = kNoString;
  std::int64_t time_ns = 0;
  std::uint64_t offset = 0;
  bool host_window = false;  ///< counts for the host window
};

/// A health record of one event.
struct EventNote {
  HealthKind kind = HealthKind::truncated;
  std::uint64_t offset = 0;
  std::string what;
};

/// First and last time of host records.
struct HostExtent {
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;

  bool empty() const { return first_ns > last_ns; }
  void include(std::int64_t start_ns, std::int64_t end_ns) {
    if (start_ns < first_ns) first_ns = start_ns;
    if (end_ns > last_ns) last_ns = end_ns;
  }
};

/// Host records without a row (Python frames, other host work) with ordinary times are folded into an extent at once;
/// the others are kept until the base is known. Ordinary: within 2^60 ns of zero (36 years), not at zero, and not
/// negative in length.
inline constexpr std::int64_t kOrdinaryTime = std::int64_t{1} << 60;

/// A host record without a row whose times need a judgement.
struct OddHostRecord {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t offset = 0;
  StringId name = kNoString;
};

/// The rows of consecutive events. Times are as written (no base added), in ns.
struct EventPart {
  std::uint32_t worker = 0;
  GpuWorkTable gpu_work;
  LaunchTable launches;
  HostRangeTable ranges;
  MemoryEventTable memory;
  CollectiveTable collectives;
  CounterRangeList counted;
  std::vector<OpenSpan> open_spans;
  std::vector<EventNote> notes;  ///< the first few of each kind; all are in note_counts
  std::vector<std::uint64_t> note_counts = std::vector<std::uint64_t>(kNumHealthKinds, 0);
  std::uint64_t num_records = 0;
  std::uint64_t num_python_frames = 0;
  HostExtent host;                        ///< Python frames and other host work with ordinary times
  std::vector<OddHostRecord> odd_host;    ///< those with other times
  std::int64_t last_time_ns = INT64_MIN;  ///< largest time of any event
  std::uint8_t fraction_shape = 0;        ///< FractionShape bits
  std::uint64_t num_times = 0;            ///< spans with a usable ts
  std::uint64_t num_absolute_times = 0;   ///< those whose ts is UNIX time itself: larger than 1e15 us
  std::uint64_t num_cuda_calls = 0, num_hip_calls = 0;
  std::int64_t process_group_rank = kNoNumber;
  std::uint64_t unknown_gpu = 0;  ///< records of accelerators that are neither AMD nor NVIDIA
  std::uint64_t unknown_gpu_offset = 0;

  void note(HealthKind kind, std::uint64_t offset, std::string_view what, std::size_t max_text = 120);

  /// Rows of the large tables.
  struct Sizes {
    std::size_t gpu_work = 0, launches = 0, ranges = 0;
  };
  Sizes sizes() const { return {num_rows(gpu_work), num_rows(launches), num_rows(ranges)}; }
  void reserve_like(const Sizes& sizes);
};

/// Names and threads one worker has seen. Names are kept as written, escapes included.
class WorkerDictionary {
 public:
  /// Returns the id of a raw text.
  StringId name(std::string_view raw);
  /// Whether the text of `id` holds an escape that JSON does not know.
  bool has_invalid_escape(StringId id) const { return invalid_escape_[index_of(id)] != 0; }
  const StringTable& names() const { return names_; }

  /// Returns the id of the thread with these tokens (as in the JSON, quotes included).
  ThreadId thread(std::string_view pid, std::string_view tid);
  const std::vector<Thread>& threads() const { return threads_; }

 private:
  StringTable names_;
  std::vector<std::uint8_t> invalid_escape_;
  std::vector<Thread> threads_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::string last_pid_, last_tid_, key_;
  ThreadId last_{};
  bool has_last_ = false;
};

}  // namespace chopper
