// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/byte_sink.h"
#include "synth/run_writer.h"

namespace chopper::synth {

std::string facts_text(const RunContext& context) {
  const Job& job = context.job;
  const ModelShape& m = job.model;
  return fmt::format(
      "# Facts about this run that its traces do not state. Written by: chopper synth --preset {} --seed {}\n"
      "[run]\n"
      "name = \"{}\"\n"
      "synthetic = true\n"
      "\n"
      "[gpu]\n"
      "spec = \"{}\"\n"
      "\n"
      "[model]\n"
      "name = \"{}\"\n"
      "layers = {}\n"
      "hidden = {}\n"
      "feed_forward = {}\n"
      "heads = {}\n"
      "kv_heads = {}\n"
      "head_dim = {}\n"
      "vocabulary = {}\n"
      "parameters = {}\n"
      "\n"
      "[training]\n"
      "batch = {}            # sequences per data-parallel rank and micro step\n"
      "sequence = {}      # tokens\n"
      "micro_steps = {}\n"
      "data_parallel = {}\n"
      "tensor_parallel = {}\n"
      "pipeline_parallel = {}\n"
      "context_parallel = {}\n"
      "sharding = \"{}\"\n",
      job.preset, job.seed, job.preset, job.gpu.key, job.model_name, m.num_layers, m.hidden, m.feed_forward,
      m.num_heads, m.num_kv_heads, m.head_dim, m.vocabulary, m.parameters(), job.batch, job.sequence, job.micro_steps,
      job.data_parallel(), job.tensor_parallel, job.pipeline_parallel, job.context_parallel, to_string(job.sharding));
}

Result<Done> write_facts(const RunContext& context) {
  const std::string text = facts_text(context);
  CHOPPER_TRY(const std::unique_ptr<ByteSink> sink, create_plain_file(context.folder / "chopper.toml"));
  CHOPPER_TRY([[maybe_unused]] const Done done, sink->write(text));
  return sink->finish();
}

}  // namespace chopper::synth
