// SPDX-License-Identifier: Apache-2.0
#include "analyze/work.h"

#include <cmath>

#include "analyze/operator_inputs.h"
#include "analyze/work_rules.h"

namespace chopper {

std::string_view to_string(PeakKind peak) {
  switch (peak) {
    case PeakKind::none:
      return "none";
    case PeakKind::bf16:
      return "bf16";
    case PeakKind::fp8:
      return "fp8";
    case PeakKind::tf32:
      return "tf32";
    case PeakKind::fp32:
      return "fp32";
    case PeakKind::fp64:
      return "fp64";
  }
  return "none";
}

std::string_view to_string(Bound bound) { return bound == Bound::compute ? "compute" : "memory"; }

PeakKind peak_of(const ElementType& type, bool tf32) {
  if (type.name.starts_with("c10::Float8_")) return PeakKind::fp8;
  if (type.name == "c10::BFloat16" || type.name == "c10::Half") return PeakKind::bf16;
  if (type.name == "float") return tf32 ? PeakKind::tf32 : PeakKind::fp32;
  if (type.name == "double") return PeakKind::fp64;
  return PeakKind::none;
}

std::optional<Work> work_of(std::string_view operator_name, std::string_view shapes, std::string_view types,
                            const WorkAssumptions& assumptions, std::string_view values) {
  if (shapes.empty()) return std::nullopt;
  auto inputs = parse_operator_inputs(shapes, types);
  if (!inputs) return std::nullopt;
  inputs->values = values;
  WorkAnswer answer = matrix_work(operator_name, *inputs, assumptions);
  if (!answer.known) answer = attention_work(operator_name, *inputs, assumptions);
  if (!answer.known) answer = convolution_work(operator_name, *inputs);
  if (!answer.known) answer = vector_work(operator_name, *inputs);
  // Extents of a damaged file may multiply to more than a double holds.
  if (answer.work && !(std::isfinite(answer.work->flops) && std::isfinite(answer.work->bytes))) return std::nullopt;
  return answer.work;
}

std::size_t WorkCache::KeyHash::operator()(const Key& key) const {
  // Multiplication by odd constants spreads the small consecutive ids over the word.
  std::uint64_t hash = index_of(key.name) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ index_of(key.shapes)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ index_of(key.types)) * 0x94d049bb133111ebu;
  hash = (hash ^ index_of(key.values)) * 0xd6e8feb86659fd93u;
  return static_cast<std::size_t>(hash ^ (hash >> 32u));
}

const std::optional<Work>& WorkCache::work_of(StringId name, StringId shapes, StringId types, StringId values) {
  const auto [entry, added] = known_.try_emplace(Key{name, shapes, types, values});
  if (added) {
    const auto text = [&](StringId id) { return id == kNoString ? std::string_view() : strings_.view(id); };
    entry->second = chopper::work_of(text(name), text(shapes), text(types), assumptions_, text(values));
  }
  return entry->second;
}

std::optional<double> peak_flops(PeakKind peak, const GpuSpec& gpu) {
  double tflops = 0;
  switch (peak) {
    case PeakKind::bf16:
      tflops = gpu.bf16_tflops();
      break;
    case PeakKind::fp8:
      tflops = gpu.fp8_tflops();
      break;
    case PeakKind::tf32:
      tflops = gpu.tf32_tflops() > 0 ? gpu.tf32_tflops() : gpu.fp32_tflops();
      break;
    case PeakKind::fp32:
      tflops = gpu.fp32_tflops();
      break;
    case PeakKind::none:
    case PeakKind::fp64:  // the table of gpus has no such column
      break;
  }
  if (tflops <= 0) return std::nullopt;
  return tflops * 1e12;
}

std::optional<LeastTime> least_ns(const Work& work, const GpuSpec& gpu) {
  double compute_ns = 0;
  if (work.flops > 0) {
    const auto peak = peak_flops(work.peak, gpu);
    if (!peak) return std::nullopt;
    compute_ns = work.flops / *peak * 1e9;
  }
  const double memory_ns = gpu.memory_gb_per_s > 0 ? work.bytes / gpu.memory_gb_per_s : 0;
  if (!(compute_ns > 0) && !(memory_ns > 0)) return std::nullopt;
  return compute_ns >= memory_ns ? LeastTime{compute_ns, Bound::compute} : LeastTime{memory_ns, Bound::memory};
}

}  // namespace chopper
