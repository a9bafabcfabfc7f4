// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "catalog/gpus.h"
#include "catalog/metric_set.h"
#include "catalog/pass_plan.h"
#include "catalog/pass_plan_text.h"

namespace chopper {
namespace {

// What the user means by the name of a gpu.
struct ChosenGpu {
  std::string architecture;
  GpuFacts facts;
  std::int64_t num_xccs = 0;
};

Result<ChosenGpu> choose_gpu(const MetricCatalog& catalog, const std::string& name) {
  CHOPPER_TRY(const std::vector<GpuSpec> gpus, embedded_gpus());
  for (const GpuSpec& gpu : gpus)
    if (gpu.key == name) return ChosenGpu{gpu.architecture, facts_of(gpu), gpu.num_xccs};
  const auto& known = catalog.counters.architectures;
  if (std::find(known.begin(), known.end(), name) != known.end())
    return ChosenGpu{name, GpuFacts{}, 0};  // an architecture has no number of dies
  return Error{ErrorCode::usage, "unknown gpu '" + name + "'", "",
               "keys are in the table of chopper gpus; architectures: " + fmt::format("{}", fmt::join(known, ", "))};
}

MetricOn describe(const MetricVariant& variant, const MetricSet& set, const MetricSet::Metric& metric) {
  MetricOn on;
  on.vendor = vendor_of_architecture(set.architecture());
  on.architectures = {set.architecture()};
  for (const Expression& alternative : variant.alternatives) on.expressions.push_back(alternative.text);
  on.tells = variant.tells;
  on.denominator = variant.denominator.text;
  for (const std::uint32_t counter : metric.counters) on.needs.push_back(set.counters()[counter]);
  on.source = variant.source;
  return on;
}

bool is_same(const MetricOn& a, const MetricOn& b) {
  return a.vendor == b.vendor && a.expressions == b.expressions && a.denominator == b.denominator &&
         a.needs == b.needs && a.source == b.source;
}

// Adds what an architecture has to the metrics; architectures that compute alike share an entry.
void add_architecture(const MetricCatalog& catalog, const MetricSet& set, std::vector<MetricInfo>& metrics) {
  for (std::size_t i = 0; i < catalog.metrics.size(); i++) {
    const MetricSet::Metric& metric = set.metrics()[i];
    if (metric.not_defined) continue;
    MetricOn on = describe(*catalog.metrics[i].find_variant(set.architecture()), set, metric);
    auto& known = metrics[i].on;
    const auto same =
        std::find_if(known.begin(), known.end(), [&](const MetricOn& other) { return is_same(on, other); });
    if (same == known.end()) {
      known.push_back(std::move(on));
    } else {
      same->architectures.push_back(set.architecture());
    }
  }
}

// Architectures in words, in order of the catalogue: a vendor where all of its own are there.
std::string where_text(const CounterCatalog& counters, const std::vector<std::string>& architectures) {
  std::vector<std::string> places;
  for (const std::string_view vendor : {"amd", "nvidia"}) {
    std::vector<std::string> there;
    bool all = true;
    for (const std::string& architecture : counters.architectures) {
      if (vendor_of_architecture(architecture) != vendor) continue;
      const bool is_there = std::find(architectures.begin(), architectures.end(), architecture) != architectures.end();
      if (is_there) there.push_back(architecture);
      all = all && is_there;
    }
    if (there.empty()) continue;
    places.push_back(all ? std::string(vendor) : fmt::format("{}", fmt::join(there, " ")));
  }
  return fmt::format("{}", fmt::join(places, ", "));
}

void note_where(const CounterCatalog& counters, std::vector<MetricInfo>& metrics) {
  for (MetricInfo& metric : metrics) {
    std::vector<std::string> all;
    for (MetricOn& on : metric.on) {
      on.where = where_text(counters, on.architectures);
      all.insert(all.end(), on.architectures.begin(), on.architectures.end());
    }
    metric.where = where_text(counters, all);
  }
}

std::string title_of(const PlanRequest& request, const PassPlan& plan) {
  const std::string number = fmt::format("{} pass{}", plan.passes.size(), plan.passes.size() == 1 ? "" : "es");
  const std::string bound = plan.lower_bound == plan.passes.size()
                                ? std::string("no fewer do")
                                : fmt::format("at least {} are needed", plan.lower_bound);
  return fmt::format("{} on {}: {}", fmt::join(request.names, " "), request.gpu,
                     plan.vendor == "nvidia" ? "one run" : number + ", " + bound);
}

std::vector<std::string> notes_of(const PassPlan& plan) {
  std::vector<std::string> notes;
  for (const std::string& name : plan.not_known)
    notes.push_back("'" + name + "' is in no list of counters; it is counted with the block of its name");
  for (std::size_t i = 0; i < plan.passes.size(); i++) {
    if (plan.passes[i].num_instances <= kInstancesKeptByRocm62) continue;
    notes.push_back(
        fmt::format("pass {} has {} instances a dispatch; rocprofv3 of ROCm 6.2 keeps {} and drops the rest: use a "
                    "newer one, or fewer TCC counters a pass",
                    i + 1, plan.passes[i].num_instances, kInstancesKeptByRocm62));
  }
  return notes;
}

}  // namespace

Result<MetricCatalog> load_metric_files(std::span<const std::filesystem::path> files) {
  std::vector<MetricFile> texts;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, "cannot read the metrics", path.string(), "check --metrics"};
    texts.push_back({path.string(), {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
  }
  return load_metrics(texts);
}

Result<std::vector<MetricInfo>> list_metrics(std::span<const std::filesystem::path> files, const std::string& gpu) {
  CHOPPER_TRY(const MetricCatalog catalog, load_metric_files(files));
  std::vector<MetricInfo> metrics;
  for (const MetricSpec& spec : catalog.metrics)
    metrics.push_back({spec.id,
                       spec.title,
                       spec.unit_text,
                       "kernel",
                       std::string(to_string(spec.roll_up)),
                       spec.summary,
                       "",
                       "",
                       "",
                       {}});
  std::vector<std::string> architectures = catalog.counters.architectures;
  if (!gpu.empty()) {
    CHOPPER_TRY(const ChosenGpu chosen, choose_gpu(catalog, gpu));
    architectures = {chosen.architecture};
  }
  for (const std::string& architecture : architectures) {
    CHOPPER_TRY(const MetricSet set, MetricSet::make(catalog, architecture, GpuFacts{}));
    add_architecture(catalog, set, metrics);
  }
  note_where(catalog.counters, metrics);
  std::erase_if(metrics, [](const MetricInfo& metric) { return metric.on.empty(); });
  for (MetricInfo& metric : list_trace_metrics()) metrics.push_back(std::move(metric));
  return metrics;
}

Result<std::vector<CounterInfo>> list_counters(std::span<const std::filesystem::path> files, const std::string& gpu) {
  CHOPPER_TRY(const MetricCatalog catalog, load_metric_files(files));
  std::string architecture;
  if (!gpu.empty()) {
    CHOPPER_TRY(const ChosenGpu chosen, choose_gpu(catalog, gpu));
    architecture = chosen.architecture;
  }
  std::vector<CounterInfo> counters;
  for (const CounterSpec& spec : catalog.counters.counters) {
    if (!architecture.empty() && catalog.counters.find(spec.name, architecture) != &spec) continue;
    const std::string& of = architecture.empty() ? spec.architectures.front() : architecture;
    const BlockSpec* block = catalog.counters.find_block(spec.block, of);
    counters.push_back({spec.name, spec.unit_text, spec.block, spec.summary, spec.source, spec.architectures,
                        block == nullptr ? 0 : block->limit});
  }
  return counters;
}

Result<PlanText> plan_passes_text(const PlanRequest& request) {
  CHOPPER_TRY(const MetricCatalog catalog, load_metric_files(request.metric_files));
  CHOPPER_TRY(const ChosenGpu gpu, choose_gpu(catalog, request.gpu));
  CHOPPER_TRY(const MetricSet set, MetricSet::make(catalog, gpu.architecture, gpu.facts));
  CHOPPER_TRY(const ClassRules rules, embedded_class_rules());
  const bool is_amd = vendor_of_architecture(gpu.architecture) == "amd";
  const std::string format = request.format.empty() ? (is_amd ? "rocprofv3" : "ncu") : request.format;
  if (format != (is_amd ? "rocprofv3" : "ncu"))
    return Error{ErrorCode::usage, format + " does not record passes of " + gpu.architecture, "",
                 is_amd ? "leave --format out, or say rocprofv3" : "leave --format out, or say ncu"};
  PlanRequest wanted = request;
  if (wanted.names.empty()) wanted.names = decomposition_metrics(set);
  CHOPPER_TRY(const PassPlan plan, plan_passes(catalog, set, wanted.names, gpu.num_xccs));
  const std::string title = title_of(wanted, plan);
  return PlanText{is_amd ? rocprofv3_input(plan, rules, title) : ncu_command(plan, rules, title), notes_of(plan)};
}

}  // namespace chopper
