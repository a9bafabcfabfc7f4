// SPDX-License-Identifier: Apache-2.0
// The whole of Chopper behind a few functions: find the inputs of a run, turn each into a summary, merge summaries into
// the answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/run_facts.h"
#include "model/counter_rows.h"
#include "model/rows.h"
#include "model/selection.h"
#include "model/summary.h"

namespace chopper {

struct AttributionRules;
struct TraceFormat;

/// How far a long read is; written by workers, read by whoever shows it.
struct Progress {
  std::atomic<std::uint64_t> bytes_total{0};  ///< on disk, of all inputs
  std::atomic<std::uint64_t> bytes_done{0};
};

/// What the user asked for.
struct RunOptions {
  unsigned threads = 0;            ///< 0: as many as the machine has
  std::uint64_t memory_bytes = 0;  ///< about the most to take at once while reading; 0: no limit
  bool strict = false;             ///< a skipped or lost record fails the run
  bool keep_kernels = false;       ///< fill Answer::kernels
  bool keep_compute = false;     ///< keep what counter passes are aligned with; analyse_run sets it where there are any
  std::string iteration_mark;    ///< beginning of the names of ranges that mark iterations; empty: known ones
  bool grain_layer = false;      ///< the operations table tells layers apart
  bool grain_iteration = false;  ///< and iterations
  std::string format;            ///< force an input format; empty: by content
  std::map<std::string, std::int64_t> set_rank;  ///< file (path or name) -> rank
  std::optional<std::int64_t> only_rank;         ///< restrict rows
  std::optional<std::int64_t> only_gpu;
  Selection selection;           ///< restricts the rows of iterations, operations, collectives and kernels
  std::filesystem::path config;  ///< states the facts of the run; empty: chopper.toml of the RUN directories
  std::vector<std::filesystem::path> operation_files;  ///< maps of operations of the user (data/operations)
  std::shared_ptr<const AttributionRules> rules;       ///< load_rules; summarise_file reads them where they are missing
  RunFacts facts;                                      ///< what is stated about the run; analyse_run reads it
  bool sequential_shares = false;                      ///< of factors, in the paper's order; else log-mean ones
  std::vector<std::string> metrics;                    ///< ids of the metrics wanted; empty: all that counters give
  std::vector<std::filesystem::path> metric_files;     ///< metrics and counters of the user, which come first
  std::size_t window_bytes = 0;  ///< size of the pieces a file is parsed in; 0: default. Results do not depend on it
  Progress* progress = nullptr;
};

/// The files of a run, in order of path.
struct RunFiles {
  struct File {
    std::filesystem::path path;
    std::string shown;                    ///< relative to the RUN argument it was found in
    bool named = false;                   ///< given on the command line: must be readable
    const TraceFormat* format = nullptr;  ///< where it was recognised before
  };
  std::vector<File> files;
  std::vector<File> facts;  ///< chopper.toml of each RUN directory: the one nearest to it
  HealthLog health;         ///< foreign files
};

/// What tells the jobs of a run apart.
struct JobFacts {
  bool has_ranks = false;
  std::optional<std::int64_t> world_size;  ///< as stated
  std::size_t num_gpus = 0;                ///< gpus, of each input, that have rows
  bool selected = true;                    ///< false when --rank and --gpu leave all of it out
};

/// The result tables, sorted by their keys, and what the text answer needs besides.
struct Answer {
  RunFacts facts;       ///< as stated
  Selection selection;  ///< what the rows are restricted to, with the next two
  std::optional<std::int64_t> only_rank, only_gpu;
  std::vector<InputRow> inputs;
  std::vector<GpuRow> gpus;
  std::vector<HealthRow> health;
  std::vector<CoverageRow> coverage;
  std::vector<LabelRuleRow> label_rules;
  std::vector<TimelineRow> timeline;  ///< scope trace: one a gpu
  std::vector<TimelineRow> windows;   ///< the other scopes
  std::vector<StepRow> steps;
  std::vector<RankRow> ranks;
  std::vector<OperationRow> operations;
  std::vector<LaunchRow> launch;
  std::vector<HostBlockerRow> host_blockers;
  std::vector<CollectiveRow> collectives;
  std::vector<AlignmentRow> alignment;
  std::vector<AlignmentGapRow> alignment_gaps;
  std::vector<MetricRow> metrics;
  std::vector<DecompositionRow> decomposition;
  std::vector<BudgetRow> budget;
  std::vector<MemoryRow> memory;
  std::vector<ThroughputRow> throughput;
  std::vector<KernelSummaryRow> kernel_summary;
  std::vector<OperationRow> step_operations;  ///< of the iterations that step times are means of, by phase and
                                              ///< operation; not written
  std::vector<InputSummary> summaries;        ///< in order of `inputs`
  std::vector<JobFacts> jobs;                 ///< in order of their first input; not written
  HealthLog health_log;                       ///< of the run and all its inputs together
  bool lost_something = false;                ///< exit code 3

  /// Calls `row` for every kernel record (copies: memcpy and memset records) in order of the keys. Empty without
  /// keep_kernels.
  void for_each_kernel(bool copies, const std::function<void(const KernelRow&)>& row) const;
};

/// Finds the inputs below `runs` (directories recursively, files as they are). Recognises by content. Fails when there
/// are none.
Result<RunFiles> find_run_files(const std::vector<std::filesystem::path>& runs, const RunOptions& options);

/// Reads and analyses one file: the first of the two functions a distributed run is made of.
Result<InputSummary> summarise_file(const RunFiles::File& file, const RunOptions& options, unsigned threads);

/// Merges summaries into the answer: resolves ranks, reports conflicts, makes and sorts the rows.
Result<Answer> merge_summaries(std::vector<InputSummary> summaries, HealthLog run_health, const RunOptions& options);

/// find_run_files, summarise_file for each (several at once), merge_summaries.
Result<Answer> analyse_run(const std::vector<std::filesystem::path>& runs, const RunOptions& options);

}  // namespace chopper
