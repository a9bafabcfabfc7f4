// SPDX-License-Identifier: Apache-2.0
#include "analyze/model_theory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyze/work.h"

namespace chopper {
namespace {

constexpr std::int32_t kNoMicroStep = -1;
// Shapes and model count the same products: what differs by more is another model, batch or sequence.
constexpr double kSameWork = 0.01;

// Executions of an operation of a layer in an iteration: iteration, phase, recompute, layer, operation.
using Place = std::tuple<std::int32_t, Phase, bool, std::int32_t, StringId>;

Place place_of(const ComputeKernelTable& table, std::span<const KernelOrigin> origins, std::size_t i) {
  return {table.iteration[i], table.phase[i], origins[i].recompute, table.layer[i], table.operation[i]};
}

bool is_product(GpuClass c) { return c == GpuClass::gemm || c == GpuClass::attention; }

// Kernels of operators that launch a product: what such an operator runs besides belongs to its product.
std::vector<bool> product_kernels(std::span<const KernelOrigin> origins) {
  std::unordered_set<std::uint32_t> ranges;
  for (const KernelOrigin& origin : origins) {
    if (is_product(origin.gpu_class) && origin.operator_range != kNoRow) ranges.insert(index_of(origin.operator_range));
  }
  std::vector<bool> products(origins.size());
  for (std::size_t i = 0; i < origins.size(); i++) {
    products[i] = is_product(origins[i].gpu_class) ||
                  (origins[i].operator_range != kNoRow && ranges.contains(index_of(origins[i].operator_range)));
  }
  return products;
}

// One pass of an operation: rows of its product kernels.
struct Pass {
  std::vector<std::size_t> rows;
  std::set<std::uint32_t> operators;     // ranges of those of its kernels that are products
  std::size_t num_without_operator = 0;  // products outside of all ranges
  std::size_t num_products() const { return operators.size() + num_without_operator; }
  bool is_backward = false;  // gradients; not forward work that is repeated
};

class ModelTheory {
 public:
  ModelTheory(const RunFacts& facts, const ModelShards& shards, const GpuSpec* spec,
              std::span<const KernelOrigin> origins, std::string_view shown, ComputeKernels& kept)
      : facts_(facts), shards_(shards), origins_(origins), shown_(shown), kept_(kept), table_(kept.table) {
    if (spec != nullptr) peak_ = peak_flops(PeakKind::bf16, *spec);
  }

  void add() {
    const std::vector<bool> products = product_kernels(origins_);
    for (std::size_t i = 0; i < num_rows(table_); i++) {
      const bool has_phase = table_.phase[i] == Phase::forward || table_.phase[i] == Phase::backward;
      if (!products[i] || !has_phase || table_.operation[i] == kNoString || table_.iteration[i] < 0) continue;
      operations_[{table_.phase[i], table_.operation[i]}].push_back(i);
    }
    for (const auto& [key, rows] : operations_) {
      static_cast<void>(key);
      names_.insert(std::string(kept_.strings.view(key.second)));
    }
    compare_layers();
    find_experts();
    for (const auto& [key, rows] : operations_) add_operation(key.first, kept_.strings.view(key.second), rows);
  }

 private:
  void add_operation(Phase phase, std::string_view name, const std::vector<std::size_t>& rows) {
    const bool has_shapes = std::any_of(rows.begin(), rows.end(), [&](std::size_t i) { return table_.flops[i] > 0; });
    ModelAnswer answer = flops_of_pass(facts_, shards_, name);
    if (!answer.flops && answer.refusal.empty()) return;
    if (answer.refusal.empty()) answer.refusal = refusal_of(name, *answer.flops, rows, has_shapes);
    if (!answer.refusal.empty()) {
      if (!has_shapes) refuse(phase, name, answer.refusal, rows.size());
      return;
    }
    std::map<std::pair<Place, std::int32_t>, Pass> passes;
    std::map<std::string, std::size_t> refused;  // kernels by reason
    for (const std::size_t i : rows) {
      if (table_.micro_step[i] == kNoMicroStep) {
        refused["its executions are not those of the passes of an iteration: training.micro_steps"]++;
        continue;
      }
      Pass& pass = passes[{place_of(table_, origins_, i), table_.micro_step[i]}];
      pass.rows.push_back(i);
      if (is_product(origins_[i].gpu_class)) {
        // A product may take several kernels, a split one and its sum.
        if (origins_[i].operator_range == kNoRow) {
          pass.num_without_operator++;
        } else {
          pass.operators.insert(index_of(origins_[i].operator_range));
        }
      }
      pass.is_backward = phase == Phase::backward && !origins_[i].recompute;
    }
    double by_shapes = 0, by_model = 0;
    for (const auto& [place, pass] : passes) {
      const double flops = pass.is_backward ? answer.flops->backward : answer.flops->forward;
      if (pass.is_backward && pass.num_products() < answer.flops->least_backward) {
        refused["fewer kernels than gradients: some weights are not trained, or gradients are fused"] +=
            pass.rows.size();
      } else if (!has_shapes) {
        part(pass, flops);
      } else if (const double told = told_by_shapes(pass); told > 0) {
        by_shapes += told;
        by_model += flops;
      }
    }
    if (!has_shapes) {
      for (const auto& [why, number] : refused) refuse(phase, name, why, number);
    } else if (by_model > 0 && std::abs(by_shapes / by_model - 1) > kSameWork) {
      kept_.notes.add(HealthKind::model_disagrees, std::string(shown_),
                      fmt::format("{} {}: shapes tell {:.2f} times the FLOPs of the model", to_string(phase), name,
                                  by_shapes / by_model));
    }
  }

  // Only a gpu that runs all of the layers tells their number, not a stage of a pipeline.
  void compare_layers() {
    if (!facts_.layers || shards_.pipeline != 1) return;
    std::set<std::int32_t> layers;
    for (const auto& [key, rows] : operations_) {
      for (const std::size_t i : rows)
        if (table_.complete[i] != 0 && table_.layer[i] >= 0) layers.insert(table_.layer[i]);
    }
    const auto seen = static_cast<std::int64_t>(layers.size());
    if (seen == 0 || seen == *facts_.layers) return;
    kept_.notes.add(HealthKind::model_disagrees, std::string(shown_),
                    fmt::format("an iteration runs {} layers, model.layers is {}", seen, *facts_.layers));
  }

  // An MLP that is executed several times in a pass of a layer is one of experts, of which the model says nothing.
  void find_experts() {
    std::map<std::pair<Place, std::int32_t>, std::set<std::uint32_t>> executions;
    has_experts_ = std::any_of(names_.begin(), names_.end(), [](const auto& name) { return name.starts_with("moe"); });
    for (const auto& [key, rows] : operations_) {
      if (key.first != Phase::forward || !kept_.strings.view(key.second).starts_with("mlp_")) continue;
      for (const std::size_t i : rows) {
        if (table_.micro_step[i] != kNoMicroStep)
          executions[{place_of(table_, origins_, i), table_.micro_step[i]}].insert(table_.instance[i]);
      }
    }
    has_experts_ = has_experts_ || std::any_of(executions.begin(), executions.end(),
                                               [](const auto& entry) { return entry.second.size() > 1; });
  }

  // What the kernels show that the model does not fit.
  std::string refusal_of(std::string_view name, const PassFlops& flops, const std::vector<std::size_t>& rows,
                         bool has_shapes) const {
    const auto any = [&](auto holds) { return std::any_of(rows.begin(), rows.end(), holds); };
    if (flops.is_attention && !any([&](std::size_t i) { return origins_[i].gpu_class == GpuClass::attention; }))
      return "attention is not one fused kernel: what of the mask it computes is not known";
    if (!has_shapes && any([&](std::size_t i) { return origins_[i].shapes_differ; }))
      return "its operator has shapes that do not tell its work";
    if (name != "lp" && any([&](std::size_t i) { return table_.layer[i] < 0; })) return "its layer is not known";
    if (has_experts_ && name.starts_with("mlp_"))
      return "its MLP is one of experts, or is executed in parts: the model does not tell their work";
    if ((name == "mlp_up" && !names_.contains("mlp_gp")) || (name == "mlp_gp" && !names_.contains("mlp_up")))
      return "gate and up projection are not apart: one product, or there is no gate";
    return {};
  }

  void part(const Pass& pass, double flops) {
    double duration_ns = 0;
    for (const std::size_t i : pass.rows) duration_ns += static_cast<double>(table_.duration_ns[i]);
    for (const std::size_t i : pass.rows) {
      const double share = duration_ns > 0 ? static_cast<double>(table_.duration_ns[i]) / duration_ns
                                           : 1 / static_cast<double>(pass.rows.size());
      table_.flops[i] = share * flops;
      if (peak_) table_.flops_ns[i] = share * flops / *peak_ * 1e9;
      table_.theory[i] = TheorySource::model;
    }
  }

  // 0 where not all of its kernels are told.
  double told_by_shapes(const Pass& pass) const {
    double flops = 0;
    for (const std::size_t i : pass.rows) flops += table_.flops[i];
    return std::isfinite(flops) ? flops : 0;
  }

  void refuse(Phase phase, std::string_view name, const std::string& why, std::size_t kernels) {
    kept_.notes.add(HealthKind::model_tells_no_work, std::string(shown_),
                    fmt::format("{} {}: {}", to_string(phase), name, why), kernels);
  }

  const RunFacts& facts_;
  const ModelShards& shards_;
  std::span<const KernelOrigin> origins_;
  std::string_view shown_;
  ComputeKernels& kept_;
  ComputeKernelTable& table_;
  std::optional<double> peak_;
  std::map<std::pair<Phase, StringId>, std::vector<std::size_t>> operations_;
  std::set<std::string> names_;  // of all operations that have products
  bool has_experts_ = false;
};

}  // namespace

void number_micro_steps(const IterationMarks& marks, std::optional<std::int64_t> stated,
                        std::span<const KernelOrigin> origins, ComputeKernelTable& table) {
  table.micro_step.assign(table.name.size(), kNoMicroStep);
  std::map<Place, std::map<std::uint32_t, std::int64_t>> executions;  // their order, by number of the instance
  for (std::size_t i = 0; i < table.micro_step.size(); i++) {
    auto& order = executions[place_of(table, origins, i)];
    order.try_emplace(table.instance[i], static_cast<std::int64_t>(order.size()));
  }
  for (std::size_t i = 0; i < table.micro_step.size(); i++) {
    if (table.iteration[i] < 0) continue;
    const auto& order = executions[place_of(table, origins, i)];
    const auto count = static_cast<std::int64_t>(order.size());
    const std::int64_t counted = marks.marks[static_cast<std::size_t>(table.iteration[i])].micro_steps;
    // Nothing tells the passes: what is executed once is of one.
    const std::int64_t passes = stated.value_or(counted > 0 ? counted : 1);
    if (count % passes != 0 || (!stated && counted == 0 && count > 1)) continue;
    table.micro_step[i] = static_cast<std::int32_t>(order.at(table.instance[i]) / (count / passes));
  }
}

void add_model_work(const RunFacts& facts, const ModelShards& shards, const GpuSpec* spec,
                    std::span<const KernelOrigin> origins, std::string_view shown, ComputeKernels& kept) {
  if (describes_work(facts)) ModelTheory(facts, shards, spec, origins, shown, kept).add();
}

}  // namespace chopper
