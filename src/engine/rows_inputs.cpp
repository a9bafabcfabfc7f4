// SPDX-License-Identifier: Apache-2.0
// Rows about what was read: inputs, health, gpus, coverage, rules of labels.
#include "engine/make_rows.h"

namespace chopper {
namespace {

Field<std::string> vendor_field(Vendor vendor) {
  return vendor == Vendor::unknown ? Field<std::string>(Reason::vendor_unknown)
                                   : Field<std::string>(std::string(to_string(vendor)));
}

std::string gpu_identity(std::size_t index, const InputSummary& input, std::int32_t device) {
  std::string id = "input" + std::to_string(index);
  if (input.facts.rank) id += "/rank" + std::to_string(*input.facts.rank);
  return id + (device == kUnknownDevice ? "/gpu?" : "/gpu" + std::to_string(device));
}

Field<std::string> spec_field(const GpuSource& source) {
  if (!source.gpu.name) return Reason::no_device_facts;
  return source.spec == nullptr ? Field<std::string>(Reason::unknown_gpu) : Field<std::string>(source.spec->key);
}

}  // namespace

void add_health_rows(const HealthLog& log, const Field<std::int64_t>& input, Answer& answer) {
  for (std::size_t k = 0; k < kNumHealthKinds; k++) {
    const auto kind = static_cast<HealthKind>(k);
    const HealthEntry& entry = log.entry(kind);
    if (entry.count == 0) continue;
    HealthRow row;
    row.input = input;
    row.kind = info(kind).name;
    row.severity = to_string(info(kind).severity);
    row.count = static_cast<std::int64_t>(entry.count);
    for (const HealthExample& example : entry.examples) {
      if (!example.where.empty() || !example.what.empty()) row.examples.push_back(example);
    }
    answer.health.push_back(std::move(row));
  }
}

void add_input_row(std::size_t index, const InputSummary& input, const Field<std::int64_t>& job, Answer& answer) {
  const TraceFacts& facts = input.facts;
  InputRow row;
  row.input = static_cast<std::int64_t>(index);
  row.path = input.path;
  row.format = facts.format;
  row.bytes = static_cast<std::int64_t>(facts.file_bytes);
  row.text_bytes = static_cast<std::int64_t>(facts.text_bytes);
  row.vendor = vendor_field(facts.vendor);
  row.host = facts.host ? Field<std::string>(*facts.host) : Field<std::string>(Reason::host_unknown);
  row.rank = rank_field(input);
  row.rank_source = to_string(facts.rank_source);
  row.records = static_cast<std::int64_t>(facts.num_records);
  row.clock = to_string(facts.clock);
  row.quantum_ns = facts.quantum_ns;
  row.job = job;
  row.is_trace = input.is_trace();
  answer.inputs.push_back(std::move(row));
}

void add_gpu_rows(const GpuSource& source, Answer& answer) {
  const InputSummary& input = source.input;
  const GpuSummary& gpu = source.gpu;
  GpuRow row;
  set_source(source, row);
  row.gpu_ordinal = row.gpu;
  row.gpu_id = gpu_identity(source.index, input, gpu.device);
  row.vendor = vendor_field(input.facts.vendor);
  row.name = gpu.name ? Field<std::string>(*gpu.name) : Field<std::string>(Reason::no_device_facts);
  row.spec = spec_field(source);
  row.num_kernels = gpu.num_kernels;
  row.num_memcpy = gpu.num_memcpy;
  row.num_memset = gpu.num_memset;
  row.num_comm_kernels = gpu.num_comm_kernels;

  CoverageRow coverage;
  set_source(source, coverage);
  const LabelCount& all = gpu.all;
  coverage.launch_records = share_field(gpu.launched.records, all.records, Reason::no_records);
  coverage.launch_time = share_field(gpu.launched.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.operator_records = share_field(gpu.in_operation.records, all.records, Reason::no_records);
  coverage.operator_time = share_field(gpu.in_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.host_operator_time = share_field(gpu.in_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.iteration_records = share_field(gpu.in_iteration.records, all.records, Reason::no_records);
  coverage.iteration_time = share_field(gpu.in_iteration.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.phase_records = share_field(gpu.with_phase.records, all.records, Reason::no_records);
  coverage.phase_time = share_field(gpu.with_phase.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.layer_records = share_field(gpu.with_layer.records, all.records, Reason::no_records);
  coverage.layer_time = share_field(gpu.with_layer.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.operation_records = share_field(gpu.with_operation.records, all.records, Reason::no_records);
  coverage.operation_time = share_field(gpu.with_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.iteration_rule = to_string(input.mark_kind);
  coverage.class_records = share_field(gpu.classed.records, all.records, Reason::no_records);
  coverage.class_time = share_field(gpu.classed.duration_ns, all.duration_ns, Reason::zero_length);
  answer.gpus.push_back(std::move(row));
  answer.coverage.push_back(std::move(coverage));

  for (const auto& [key, count] : gpu.label_rules) {
    LabelRuleRow rule;
    set_source(source, rule);
    rule.label = key.first;
    rule.rule = to_string(key.second);
    rule.records = count.records;
    rule.duration_ns = count.duration_ns;
    answer.label_rules.push_back(std::move(rule));
  }
}

}  // namespace chopper
