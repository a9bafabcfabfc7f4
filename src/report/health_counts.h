// SPDX-License-Identifier: Apache-2.0
// What a HealthLog and the labels of gpu work amount to, in the few numbers that both texts show.
#pragma once

#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "model/health.h"

namespace chopper {

/// Records that are in no sum.
struct Losses {
  std::uint64_t quarantined = 0;    ///< gpu and host records with impossible times
  std::uint64_t lost = 0;           ///< events that could not be read
  std::uint64_t broken_inputs = 0;  ///< files cut, damaged, without events or unreadable

  bool any() const { return quarantined + lost + broken_inputs > 0; }
};
Losses losses_of(const HealthLog& log);

/// Returns "2 events lost, 12 records quarantined, 1 file incomplete", or "nothing lost".
std::string losses_text(const Losses& losses);

/// Returns what is not there to be counted: "300 kernels not recorded, 16 repeated, 7 ranks missing"; empty when all
/// is.
std::string absences_text(const HealthLog& log);

/// Returns the labels of all gpu work that has a row in `answer.timeline`, over all inputs.
struct LinkedWork {
  LabelCount all;
  LabelCount launched;
};
LinkedWork linked_work(const Answer& answer);

}  // namespace chopper
