// SPDX-License-Identifier: Apache-2.0
#include "synth/flaws.h"

#include <algorithm>

#include "synth/random.h"

namespace chopper::synth {

Flaws::Flaws(const Job& job, std::int64_t rank, FlawLog& log) : job_(job), rank_(rank), log_(log) {
  for (const Imperfection& each : job.imperfections) {
    if (each.rank >= 0 && each.rank != rank) continue;
    if (each.name == "drop-first") drop_first_ += each.amount;
    if (each.name == "drop-random") drop_share_ += each.amount / 100;
    if (each.name == "drop-stream") drop_stream_ = each.amount;
    if (each.name == "clock-offset") offset_ns_ += each.amount * 1000;
    if (each.name == "clock-drift") drift_ppm_ += each.amount;
    if (each.name == "duplicate-correlation") repeat_share_ += each.amount / 100;
    if (each.name == "zero-time") zero_left_ += each.amount;
    if (each.name == "overflowed-time") overflow_left_ += each.amount;
    if (each.name == "truncated") truncated_ = std::clamp(each.amount / 100, 0.0, 1.0);
    if (each.name == "broken-quoting") quotes_left_ += each.amount;
  }
}

std::int64_t Flaws::shown(std::int64_t time_ns) const {
  if (offset_ns_ == 0 && drift_ppm_ == 0) return time_ns;
  const auto since_start = static_cast<double>(time_ns);
  return time_ns + static_cast<std::int64_t>(offset_ns_) + static_cast<std::int64_t>(since_start * drift_ppm_ * 1e-6);
}

bool Flaws::drops(std::int64_t iteration, std::int64_t work, std::int64_t stream) {
  num_seen_++;
  const bool first = static_cast<double>(num_seen_) <= drop_first_;
  const bool of_stream = drop_stream_ >= 0 && static_cast<double>(stream) == drop_stream_;
  const auto key = static_cast<std::uint64_t>(iteration) << 32 | static_cast<std::uint64_t>(work);
  const bool random = drop_share_ > 0 &&
                      unit(random_bits(job_.seed, Purpose::drop, static_cast<std::uint64_t>(rank_), key)) < drop_share_;
  if (!first && !of_stream && !random) return false;
  log_.push_back({first ? "drop-first" : of_stream ? "drop-stream" : "drop-random", iteration, work, 0});
  return true;
}

bool Flaws::repeats_correlation(std::int64_t iteration, std::int64_t work) {
  if (repeat_share_ == 0) return false;
  const auto key = static_cast<std::uint64_t>(iteration) << 32 | static_cast<std::uint64_t>(work);
  const std::uint64_t bits = random_bits(job_.seed, Purpose::imperfection, static_cast<std::uint64_t>(rank_), key);
  if (unit(bits) >= repeat_share_) return false;
  log_.push_back({"duplicate-correlation", iteration, work, 0});
  return true;
}

// One record in a hundred until the wanted number is reached: spread over the beginning of the file.
bool Flaws::hit(double& left, std::int64_t every) {
  if (left < 1 || num_seen_ % 97 != every) return false;
  left -= 1;
  return true;
}

bool Flaws::zeroes_time(std::int64_t iteration, std::int64_t work) {
  if (!hit(zero_left_, 13)) return false;
  log_.push_back({"zero-time", iteration, work, 0});
  return true;
}

bool Flaws::overflows(std::int64_t iteration, std::int64_t work) {
  if (!hit(overflow_left_, 57)) return false;
  log_.push_back({"overflowed-time", iteration, work, 0});
  return true;
}

bool Flaws::breaks_quoting(std::int64_t iteration) {
  if (quotes_left_ < 1 || num_annotations_++ % 7 != 3) return false;
  quotes_left_ -= 1;
  log_.push_back({"broken-quoting", iteration, -1, 0});
  return true;
}

void Flaws::log_truncation(std::int64_t bytes) { log_.push_back({"truncated", -1, -1, bytes}); }

void Flaws::log_clock() {
  if (offset_ns_ != 0) log_.push_back({"clock-offset", -1, -1, static_cast<std::int64_t>(offset_ns_)});
  if (drift_ppm_ != 0) log_.push_back({"clock-drift", -1, -1, static_cast<std::int64_t>(drift_ppm_ * 1000)});
}

}  // namespace chopper::synth
