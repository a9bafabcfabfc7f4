// SPDX-License-Identifier: Apache-2.0
// Facts about a run that no trace states (chopper.toml): the gpu, the model, how it was trained, how iterations are
// marked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/clock_facts.h"

namespace chopper {

/// Everything a chopper.toml can state; what it leaves out is empty. Tables and keys are those of the file.
struct RunFacts {
  std::optional<std::string> run_name;  ///< [run] name
  std::optional<bool> synthetic;        ///< [run] synthetic

  std::optional<std::string> gpu_spec;  ///< [gpu] spec: key of the table of gpus, in place of the product name's

  std::optional<std::string> model_name;  ///< [model] name
  std::optional<std::int64_t> layers, hidden, feed_forward, heads, kv_heads, head_dim, vocabulary;
  std::optional<std::int64_t> parameters;  ///< all of them, embeddings too

  std::optional<std::int64_t> batch;          ///< [training] sequences per data-parallel rank and micro step
  std::optional<std::int64_t> sequence;       ///< tokens of one
  std::optional<std::int64_t> micro_steps;    ///< forward-backward passes of an iteration
  std::optional<std::int64_t> data_parallel;  ///< groups of ranks that read different sequences
  std::optional<std::int64_t> tensor_parallel, pipeline_parallel, context_parallel;
  std::optional<std::string> sharding;  ///< "fsdp2", "ddp", ...

  std::optional<std::string> iteration_mark;  ///< [labels] what names of iteration marks begin with
  std::optional<double> f_eff_mhz;            ///< [clock] clock of the gpus during the run
  /// [clock] f_eff_mhz and all [[clock.of]]: the most specific first.
  ClockFacts clocks;

  friend bool operator==(const RunFacts&, const RunFacts&) = default;
};

/// Parses the text of a chopper.toml; `shown` names it in messages. Fails with bad_input, the line and the remedy on
/// what is no TOML, unknown keys (most often slips), wrong types and numbers out of range.
Result<RunFacts> parse_run_facts(std::string_view text, std::string_view shown);

}  // namespace chopper
