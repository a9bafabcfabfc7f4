// SPDX-License-Identifier: Apache-2.0
#include "model/trace.h"

namespace chopper {

std::string_view to_string(Vendor vendor) {
  switch (vendor) {
    case Vendor::unknown:
      return "unknown";
    case Vendor::amd:
      return "amd";
    case Vendor::nvidia:
      return "nvidia";
  }
  return "unknown";
}

std::string_view to_string(ClockDomain clock) { return clock == ClockDomain::unix_time ? "unix" : "relative"; }

std::string_view to_string(RankSource source) {
  switch (source) {
    case RankSource::none:
      return "none";
    case RankSource::metadata:
      return "metadata";
    case RankSource::process_group:
      return "process_group";
    case RankSource::file_name:
      return "file_name";
    case RankSource::user:
      return "user";
  }
  return "none";
}

std::string place_of(std::string_view shown, const TraceFacts& facts, std::uint64_t offset) {
  return std::string(shown) + (facts.has_offsets ? " @ byte " : ", record ") + std::to_string(offset);
}

std::string_view to_string(GpuClass gpu_class) {
  switch (gpu_class) {
    case GpuClass::gemm:
      return "gemm";
    case GpuClass::attention:
      return "attention";
    case GpuClass::vector:
      return "vector";
    case GpuClass::other:
      return "other";
    case GpuClass::comm:
      return "comm";
    case GpuClass::memcpy:
      return "memcpy";
    case GpuClass::memset:
      return "memset";
  }
  return "other";
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    case Phase::other:
      return "other";
    case Phase::unlabelled:
      return "unlabelled";
  }
  return "unlabelled";
}

std::string_view to_string(LabelRule labelRule) {
  switch (labelRule) {
    case LabelRule::none:
      return "none";
    case LabelRule::annotation:
      return "annotation";
    case LabelRule::module_path:
      return "module_path";
    case LabelRule::module_class:
      return "module_class";
    case LabelRule::engine:
      return "engine";
    case LabelRule::optimizer:
      return "optimizer";
    case LabelRule::forward_link:
      return "forward_link";
    case LabelRule::sequence:
      return "sequence";
    case LabelRule::order:
      return "order";
    case LabelRule::repetition:
      return "repetition";
    case LabelRule::collective:
      return "collective";
    case LabelRule::operator_name:
      return "operator_name";
    case LabelRule::host_range:
      return "host_range";
    case LabelRule::stream_order:
      return "stream_order";
    case LabelRule::count_:
      break;
  }
  return "none";
}

std::string_view to_string(MarkKind markKind) {
  switch (markKind) {
    case MarkKind::user:
      return "user";
    case MarkKind::iteration:
      return "iteration";
    case MarkKind::profiler_step:
      return "profiler_step";
    case MarkKind::optimizer:
      return "optimizer";
    case MarkKind::periodic:
      return "periodic";
    case MarkKind::none:
      return "none";
  }
  return "none";
}

}  // namespace chopper
