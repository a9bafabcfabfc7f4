// SPDX-License-Identifier: Apache-2.0
// From summaries to the answer: ranks, rows, order.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "catalog/gpus.h"
#include "engine/engine.h"
#include "engine/recognise.h"
#include "engine/throughput_rows.h"

namespace chopper {
namespace {

bool same_bytes(const std::string& a, const std::string& b) {
  std::ifstream x(a, std::ios::binary);
  std::ifstream y(b, std::ios::binary);
  std::vector<char> p(std::size_t{1} << 16), q(p.size());
  if (!x || !y) return false;
  while (true) {
    x.read(p.data(), static_cast<std::streamsize>(p.size()));
    y.read(q.data(), static_cast<std::streamsize>(q.size()));
    if (x.gcount() != y.gcount() || !std::equal(p.begin(), p.begin() + x.gcount(), q.begin())) return false;
    if (x.gcount() == 0) return true;
  }
}

Error conflict(const std::vector<const InputSummary*>& claimants) {
  std::string files;
  for (std::size_t i = 0; i < claimants.size() && i < 3; i++) files += (i > 0 ? ", " : "") + claimants[i]->path;
  if (claimants.size() > 3) files += ", ...";
  return {ErrorCode::conflict,
          std::to_string(claimants.size()) + " different files claim rank " +
              std::to_string(*claimants[0]->facts.rank) + ": " + files,
          "", "report one job at a time, or state the ranks: --set-rank " + claimants[0]->path + "=N for each"};
}

// Spec 10: the same rank twice is a copy, consecutive windows of one process, or a conflict.
Result<Done> resolve_ranks(std::vector<InputSummary>& inputs, HealthLog& health) {
  std::map<std::int64_t, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].facts.rank) by_rank[*inputs[i].facts.rank].push_back(i);
  }
  std::set<std::size_t> copies;
  for (auto& [rank, claimants] : by_rank) {
    std::vector<std::size_t> distinct;
    for (const std::size_t i : claimants) {
      const auto twin = std::find_if(distinct.begin(), distinct.end(), [&](std::size_t k) {
        return inputs[k].facts.file_bytes == inputs[i].facts.file_bytes &&
               same_bytes(inputs[k].full_path, inputs[i].full_path);
      });
      if (twin == distinct.end()) {
        distinct.push_back(i);
      } else {
        copies.insert(i);
        health.add(HealthKind::duplicate_file, inputs[i].path, "same bytes as " + inputs[*twin].path);
      }
    }
    if (distinct.size() < 2) continue;
    std::sort(distinct.begin(), distinct.end(),
              [&](std::size_t a, std::size_t b) { return inputs[a].first_ns < inputs[b].first_ns; });
    bool consecutive = true;
    std::vector<const InputSummary*> all;
    for (std::size_t k = 0; k < distinct.size(); k++) {
      const InputSummary& now = inputs[distinct[k]];
      all.push_back(&now);
      if (k == 0) continue;
      const InputSummary& before = inputs[distinct[k - 1]];
      const bool comparable = now.has_times && before.has_times && now.facts.clock == ClockDomain::unix_time &&
                              before.facts.clock == ClockDomain::unix_time;
      consecutive = consecutive && comparable && before.facts.host == now.facts.host &&
                    before.facts.world_size == now.facts.world_size && before.last_ns <= now.first_ns;
    }
    if (!consecutive) {
      std::sort(all.begin(), all.end(), [](const InputSummary* a, const InputSummary* b) { return a->path < b->path; });
      return conflict(all);
    }
    health.add(
        HealthKind::consecutive_windows, all.front()->path,
        "rank " + std::to_string(rank) + " has " + std::to_string(distinct.size()) + " files one after the other");
  }
  std::vector<InputSummary> kept;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!copies.contains(i)) kept.push_back(std::move(inputs[i]));
  }
  inputs = std::move(kept);
  return Done{};
}

// Ranks the job has and the run lacks. Only when all inputs that state a world size state the same one.
void note_missing_ranks(const std::vector<InputSummary>& inputs, HealthLog& health) {
  std::set<std::int64_t> ranks, sizes;
  for (const InputSummary& input : inputs) {
    if (input.facts.rank) ranks.insert(*input.facts.rank);
    if (input.facts.world_size) sizes.insert(*input.facts.world_size);
  }
  if (sizes.size() != 1 || ranks.empty()) return;
  const std::int64_t size = *sizes.begin();
  std::int64_t missing = size;
  for (const std::int64_t rank : ranks) missing -= rank >= 0 && rank < size ? 1 : 0;
  if (size <= 1 || missing <= 0) return;
  std::string list;
  for (std::int64_t r = 0, shown = 0; r < size && shown < 8; r++) {
    if (ranks.contains(r)) continue;
    list += (list.empty() ? "" : ", ") + std::to_string(r);
    shown++;
  }
  health.add(HealthKind::rank_missing, "",
             "ranks " + list + (missing > 8 ? ", ..." : "") + " of " + std::to_string(size),
             static_cast<std::uint64_t>(missing));
}

Field<std::int64_t> rank_field(const InputSummary& input) {
  return input.facts.rank ? Field<std::int64_t>(*input.facts.rank) : Field<std::int64_t>(Reason::rank_unknown);
}
Field<std::int64_t> gpu_field(std::int32_t device) {
  return device == kUnknownDevice ? Field<std::int64_t>(Reason::device_unknown)
                                  : Field<std::int64_t>(std::int64_t{device});
}
Field<ExtentList> extent_field(const Extent& e) {
  return e.known() ? Field<ExtentList>(ExtentList{{e.x, e.y, e.z}}) : Field<ExtentList>(Reason::no_extent);
}
Field<std::string> vendor_field(Vendor vendor) {
  return vendor == Vendor::unknown ? Field<std::string>(Reason::vendor_unknown)
                                   : Field<std::string>(std::string(to_string(vendor)));
}

Field<std::int64_t> ordinal_field(std::int32_t ordinal) {
  return ordinal >= 0 ? Field<std::int64_t>(std::int64_t{ordinal})
                      : Field<std::int64_t>(ordinal == kNoIteration ? Reason::no_launch_record : Reason::no_mark);
}
Field<std::int64_t> number_field(std::int64_t number) {
  return number == kNoNumber ? Field<std::int64_t>(Reason::no_mark) : Field<std::int64_t>(number);
}
Field<std::int64_t> layer_field(std::int64_t layer) {
  return layer >= 0 ? Field<std::int64_t>(layer)
                    : Field<std::int64_t>(layer == kOutsideLayers ? Reason::outside_layers : Reason::no_label);
}

Field<double> share(std::int64_t part, std::int64_t whole, Reason reason) {
  return whole > 0 ? Field<double>(static_cast<double>(part) / static_cast<double>(whole)) : Field<double>(reason);
}

std::string gpu_identity(std::size_t index, const InputSummary& input, std::int32_t device) {
  std::string id = "input" + std::to_string(index);
  if (input.facts.rank) id += "/rank" + std::to_string(*input.facts.rank);
  return id + (device == kUnknownDevice ? "/gpu?" : "/gpu" + std::to_string(device));
}

void add_health_rows(const HealthLog& log, Field<std::int64_t> input, std::vector<HealthRow>& rows) {
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
    rows.push_back(std::move(row));
  }
}

void add_input_row(std::size_t index, const InputSummary& input, Answer& answer) {
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
  answer.inputs.push_back(std::move(row));
}

// What is stated about the run comes before the name in the trace.
Field<std::string> spec_field(const GpuSummary& gpu, const std::vector<GpuSpec>& known, const RunFacts& facts) {
  if (facts.gpu_spec) return *facts.gpu_spec;
  if (!gpu.name) return Reason::no_device_facts;
  const GpuSpec* spec = find_gpu(known, *gpu.name);
  return spec == nullptr ? Field<std::string>(Reason::unknown_gpu) : Field<std::string>(spec->key);
}

void add_gpu_rows(std::size_t index, const InputSummary& input, const GpuSummary& gpu,
                  const std::vector<GpuSpec>& known, const RunFacts& facts, Answer& answer) {
  const auto input_index = static_cast<std::int64_t>(index);
  GpuRow row;
  row.input = input_index;
  row.rank = rank_field(input);
  row.gpu = row.gpu_ordinal = gpu_field(gpu.device);
  row.gpu_id = gpu_identity(index, input, gpu.device);
  row.vendor = vendor_field(input.facts.vendor);
  row.name = gpu.name ? Field<std::string>(*gpu.name) : Field<std::string>(Reason::no_device_facts);
  row.spec = spec_field(gpu, known, facts);
  row.num_kernels = gpu.num_kernels;
  row.num_memcpy = gpu.num_memcpy;
  row.num_memset = gpu.num_memset;
  row.num_comm_kernels = gpu.num_comm_kernels;

  CoverageRow coverage;
  coverage.input = input_index;
  coverage.rank = row.rank;
  coverage.gpu = row.gpu;
  const LabelCount& all = gpu.all;
  coverage.launch_records = share(gpu.launched.records, all.records, Reason::no_records);
  coverage.launch_time = share(gpu.launched.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.operator_records = share(gpu.in_operation.records, all.records, Reason::no_records);
  coverage.operator_time = share(gpu.in_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.host_operator_time = share(gpu.in_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.iteration_records = share(gpu.in_iteration.records, all.records, Reason::no_records);
  coverage.iteration_time = share(gpu.in_iteration.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.phase_records = share(gpu.with_phase.records, all.records, Reason::no_records);
  coverage.phase_time = share(gpu.with_phase.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.layer_records = share(gpu.with_layer.records, all.records, Reason::no_records);
  coverage.layer_time = share(gpu.with_layer.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.operation_records = share(gpu.with_operation.records, all.records, Reason::no_records);
  coverage.operation_time = share(gpu.with_operation.duration_ns, all.duration_ns, Reason::zero_length);
  coverage.iteration_rule = to_string(input.mark_kind);
  coverage.class_records = share(gpu.classed.records, all.records, Reason::no_records);
  coverage.class_time = share(gpu.classed.duration_ns, all.duration_ns, Reason::zero_length);

  TimelineRow line = gpu.timeline;
  line.input = input_index;
  line.rank = row.rank;
  line.gpu = row.gpu;

  for (const auto& [key, sketch] : gpu.kernels) {
    KernelSummaryRow kernel;
    kernel.input = input_index;
    kernel.rank = row.rank;
    kernel.gpu = row.gpu;
    kernel.name = key.name;
    kernel.gpu_class = to_string(key.gpu_class);
    kernel.operation = key.operation;
    kernel.grid = extent_field(key.grid);
    kernel.block = extent_field(key.block);
    kernel.num = static_cast<std::int64_t>(sketch.count());
    kernel.total_ns = sketch.sum();
    kernel.min_ns = sketch.min();
    kernel.max_ns = sketch.max();
    kernel.p50_ns = sketch.quantile(50, 100);
    kernel.p95_ns = sketch.quantile(95, 100);
    answer.kernel_summary.push_back(std::move(kernel));
  }
  answer.gpus.push_back(std::move(row));
  answer.coverage.push_back(coverage);
  answer.timeline.push_back(std::move(line));
}

template <class Row>
void sort_rows(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return key_less(a, b); });
}

}  // namespace

Result<Answer> merge_summaries(std::vector<InputSummary> summaries, HealthLog run_health, const RunOptions& options) {
  std::sort(summaries.begin(), summaries.end(), [](const InputSummary& a, const InputSummary& b) {
    return std::tie(a.path, a.full_path) < std::tie(b.path, b.full_path);
  });
  for (const auto& [name, rank] : options.set_rank) {
    static_cast<void>(rank);
    const bool used = std::any_of(summaries.begin(), summaries.end(), [&, &file = name](const InputSummary& s) {
      return names_file(file, s.path, s.full_path);
    });
    if (!used)
      return Error{ErrorCode::usage, "--set-rank names no input: " + name, "", "use a path as chopper check shows it"};
  }
  CHOPPER_TRY(const Done done, resolve_ranks(summaries, run_health));
  static_cast<void>(done);
  note_missing_ranks(summaries, run_health);

  CHOPPER_TRY(const std::vector<GpuSpec> known, embedded_gpus());
  Answer answer;
  answer.facts = options.facts;
  answer.health_log = run_health;
  for (const InputSummary& input : summaries) answer.health_log.merge(input.health);
  answer.lost_something = answer.health_log.worst() != Severity::note;
  if (options.strict && answer.lost_something) {
    for (std::size_t k = 0; k < kNumHealthKinds; k++) {
      const HealthEntry& entry = answer.health_log.entry(static_cast<HealthKind>(k));
      const HealthKindInfo& kind = info(static_cast<HealthKind>(k));
      if (entry.count == 0 || kind.severity == Severity::note) continue;
      return Error{ErrorCode::bad_input,
                   "--strict: " + std::string(kind.meaning) + " (" + std::string(kind.name) + ", " +
                       std::to_string(entry.count) + ")",
                   entry.examples.empty() ? "" : entry.examples.front().where,
                   "run without --strict to read the rest, or chopper check for all of it"};
    }
  }
  add_health_rows(run_health, {}, answer.health);
  for (std::size_t i = 0; i < summaries.size(); i++) {
    const InputSummary& input = summaries[i];
    add_input_row(i, input, answer);
    add_health_rows(input.health, static_cast<std::int64_t>(i), answer.health);
    if (options.only_rank && input.facts.rank != options.only_rank) continue;
    for (const GpuSummary& gpu : input.gpus) {
      if (options.only_gpu && gpu.device != *options.only_gpu) continue;
      add_gpu_rows(i, input, gpu, known, options.facts, answer);
    }
  }
  if ((options.only_rank || options.only_gpu) && answer.gpus.empty()) {
    return Error{ErrorCode::usage, "the selection holds no gpu", "", "chopper check lists ranks and gpus"};
  }
  sort_rows(answer.health);
  sort_rows(answer.gpus);
  sort_rows(answer.coverage);
  sort_rows(answer.timeline);
  sort_rows(answer.kernel_summary);
  answer.throughput = throughput_rows(answer, summaries, known);  // behind the steps
  if (options.only_rank || options.only_gpu) {
    for (InputSummary& input : summaries) {
      const bool rank_selected = !options.only_rank || input.facts.rank == options.only_rank;
      input.selected = rank_selected;
      std::erase_if(input.gpus, [&](const GpuSummary& g) {
        return !rank_selected || (options.only_gpu && g.device != *options.only_gpu);
      });
      if (!input.kernel_records) continue;
      std::erase_if(input.kernel_records->records, [&](const KernelRecords::Record& r) {
        return !rank_selected || (options.only_gpu && r.device != *options.only_gpu);
      });
    }
  }
  answer.summaries = std::move(summaries);
  return answer;
}

void Answer::for_each_kernel(bool copies, const std::function<void(const KernelRow&)>& row) const {
  for (std::size_t i = 0; i < summaries.size(); i++) {
    if (!summaries[i].kernel_records) continue;
    const KernelRecords& kept = *summaries[i].kernel_records;
    const auto text = [&](StringId id, Reason reason) {
      return id == kNoString ? Field<std::string>(reason) : Field<std::string>(std::string(kept.strings.view(id)));
    };
    for (const KernelRecords::Record& r : kept.records) {
      if (r.is_kernel == copies) continue;
      KernelRow out;
      out.input = static_cast<std::int64_t>(i);
      out.rank = rank_field(summaries[i]);
      out.gpu = gpu_field(r.device);
      out.start_ns = r.start_ns;
      out.offset = static_cast<std::int64_t>(r.offset);
      out.name = kept.strings.view(r.name);
      out.gpu_class = to_string(r.gpu_class);
      out.phase = to_string(r.phase);
      out.operation =
          r.operation == kNoString ? std::string("unlabelled") : std::string(kept.strings.view(r.operation));
      out.ordinal = ordinal_field(r.ordinal);
      out.iteration = r.ordinal < 0 ? Field<std::int64_t>(out.ordinal) : number_field(r.iteration);
      out.layer = layer_field(r.layer);
      out.layer_known = r.layer != kUnknownLayer;
      out.recompute = r.recompute;
      out.graph = r.graph;
      out.phase_rule = to_string(r.phase_rule);
      out.layer_rule = to_string(r.layer_rule);
      out.operation_rule = to_string(r.operation_rule);
      out.comm_copy = r.comm_copy;
      out.duration_ns = r.duration_ns;
      out.stream = r.stream == kNoNumber ? Field<std::int64_t>(Reason::stream_unknown) : Field<std::int64_t>(r.stream);
      out.correlation =
          r.correlation == kNoId ? Field<std::int64_t>(Reason::no_link) : Field<std::int64_t>(r.correlation);
      if (r.bytes != kNoNumber) out.bytes = r.bytes;
      if (!copies) {
        out.grid = extent_field(r.grid);
        out.block = extent_field(r.block);
      }
      out.launch_call = text(r.launch_call, Reason::no_launch_record);
      out.range = text(r.range, Reason::no_link);
      out.operator_name = text(r.operator_name, Reason::no_link);
      if (r.launch_ns == kNoNumber) {
        out.launch_ns = out.launch_delay_ns = Reason::no_launch_record;
      } else {
        out.launch_ns = r.launch_ns;
        out.launch_delay_ns = r.start_ns - r.launch_ns;
      }
      if (!copies) {
        const Reason reason = !is_compute(r.gpu_class) ? Reason::not_compute
                              : r.first_of_chain       ? Reason::first_of_chain
                                                       : Reason::no_launch_record;
        out.prep_ns = r.prep_ns == kNoNumber ? Field<std::int64_t>(reason) : Field<std::int64_t>(r.prep_ns);
        out.call_ns = r.call_ns == kNoNumber ? Field<std::int64_t>(reason) : Field<std::int64_t>(r.call_ns);
      }
      out.overlap_ns = r.overlap_ns;
      out.overlap_ratio = share(r.overlap_ns, r.duration_ns, Reason::zero_length);
      row(out);
    }
  }
}

}  // namespace chopper
