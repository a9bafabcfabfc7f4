// SPDX-License-Identifier: Apache-2.0
// Facts of a run of Llama 3 8B.
#pragma once

#include <cstdint>

#include "catalog/run_facts.h"

namespace chopper::test {

inline RunFacts llama3_8b(std::int64_t batch, std::int64_t sequence) {
  RunFacts facts;
  facts.layers = 32;
  facts.hidden = 4096;
  facts.feed_forward = 14336;
  facts.heads = 32;
  facts.kv_heads = 8;
  facts.head_dim = 128;
  facts.vocabulary = 128256;
  facts.parameters = 8030261248;
  facts.batch = batch;
  facts.sequence = sequence;
  facts.micro_steps = 1;
  return facts;
}

}  // namespace chopper::test
