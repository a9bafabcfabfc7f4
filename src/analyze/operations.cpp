// SPDX-License-Identifier: Apache-2.0
#include "analyze/operations.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/work.h"
#include "base/check.h"
#include "base/wrapping.h"

namespace chopper {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kNumPhases = static_cast<std::size_t>(Phase::unlabelled) + 1;

// Gives each (phase, operation), and with a finer grain each (phase, operation, iteration, layer), a small number.
// Millions of records fall into few groups: strings are compared at the end only.
class Groups {
 public:
  struct Group {
    std::uint32_t base = 0;  // of (phase, operation)
    bool in_steps = false;
    std::int64_t ordinal = kNotGrouped, layer = kNotGrouped;
  };

  Groups(const GpuWorkLabels& labels, const std::vector<std::uint8_t>& in_steps, const Grain& grain)
      : labels_(labels),
        in_steps_(in_steps),
        grain_(grain),
        num_bases_((labels.operations.size() + 1) * kNumPhases),
        number_of_base_(2 * num_bases_, kNone) {}

  bool is_in_steps(std::uint32_t row) const {
    const std::int32_t k = labels_.iteration[row];
    return k >= 0 && in_steps_[static_cast<std::size_t>(k)] != 0;
  }
  std::uint32_t of(std::uint32_t row) { return of(row, is_in_steps(row)); }
  std::uint32_t of(std::uint32_t row, bool in_steps) {
    const auto operation = static_cast<std::uint32_t>(index_of(labels_.operation[row]) + 1);  // kNoString: 0
    const auto base = static_cast<std::uint32_t>(operation * kNumPhases + static_cast<std::size_t>(labels_.phase[row]));
    const std::int32_t k = labels_.iteration[row];
    if (!grain_.layer && !grain_.iteration) {
      std::uint32_t& number = number_of_base_[2 * base + (in_steps ? 1 : 0)];
      if (number == kNone) number = add({base, in_steps});
      return number;
    }
    const Fine fine{2 * base + (in_steps ? 1 : 0), grain_.iteration ? k : 0, grain_.layer ? labels_.layer[row] : 0};
    if (fine == last_) return last_number_;
    const auto [at, inserted] = numbers_.try_emplace(fine, 0);
    if (inserted) {
      at->second = add({base, in_steps, grain_.iteration ? std::int64_t{k} : kNotGrouped,
                        grain_.layer ? std::int64_t{fine.layer} : kNotGrouped});
    }
    last_ = fine;
    last_number_ = at->second;
    return last_number_;
  }

  const std::vector<Group>& all() const { return groups_; }
  std::size_t num_bases() const { return num_bases_; }
  static Phase phase_of(std::size_t base) { return static_cast<Phase>(base % kNumPhases); }
  std::string operation_of(std::size_t base) const {
    const auto operation = static_cast<std::uint32_t>(base / kNumPhases);
    return operation == 0 ? "unlabelled" : std::string(labels_.operations.view(StringId{operation - 1}));
  }

 private:
  struct Fine {
    std::uint32_t base = kNone;  // twice that of (phase, operation), and one in steps
    std::int32_t iteration = 0, layer = 0;
    friend bool operator==(const Fine&, const Fine&) = default;
  };
  struct Hash {
    std::size_t operator()(const Fine& f) const {
      std::uint64_t h = (std::uint64_t{f.base} << 32 | static_cast<std::uint32_t>(f.iteration)) * 0x9e3779b97f4a7c15ull;
      h = (h ^ h >> 32 ^ static_cast<std::uint32_t>(f.layer)) * 0xd6e8feb86659fd93ull;
      return h ^ h >> 32;
    }
  };

  std::uint32_t add(Group group) {
    groups_.push_back(group);
    return static_cast<std::uint32_t>(groups_.size() - 1);
  }

  const GpuWorkLabels& labels_;
  const std::vector<std::uint8_t>& in_steps_;
  Grain grain_;
  std::size_t num_bases_;
  std::vector<std::uint32_t> number_of_base_;
  std::unordered_map<Fine, std::uint32_t, Hash> numbers_;
  Fine last_;
  std::uint32_t last_number_ = kNone;
  std::vector<Group> groups_;
};

// One execution of an operation on this device.
struct Instance {
  std::int64_t duration_ns = 0, first_ns = 0, last_ns = 0;  // summed durations; first start, last end
  std::uint32_t group = kNone;
};

// Executions by their number, which counts up from 0 over the whole trace.
std::vector<Instance> make_instances(const GpuWorkLabels& labels, const GpuRows& rows) {
  std::uint32_t highest = 0;
  for (const std::uint32_t row : rows) highest = std::max(highest, labels.instance[row]);
  CHOPPER_CHECK(highest < labels.instance.size());
  return std::vector<Instance>(highest + std::size_t{1});
}

// Adds what the recorded shapes tell of the work of COMP records: that of each host operator once, whatever number of
// kernels it launched here (docs/reference/attribution.md 9).
class WorkCounter {
 public:
  WorkCounter(const TraceTables& trace, const GpuWorkLabels& labels, const GpuSpec* spec)
      : trace_(trace), labels_(labels), spec_(spec), cache_(trace.strings) {}

  /// `flops`: those of the record's iteration, nullptr when it is in none.
  void add(std::uint32_t row, OperationSummary& sum, IterationFlops* flops) {
    const RowId range = labels_.operation_range[row];
    const std::int64_t duration = trace_.gpu_work.duration_ns[row];
    if (range != kNoRow && range != last_) look_up(range);
    const bool is_known = range != kNoRow && work_;
    if (flops != nullptr && may_be_product(labels_.gpu_class[row], is_known)) {
      add_wrapping(flops->product_ns, duration);
      if (is_known) add_wrapping(flops->known_ns, duration);
      if (labels_.recompute[row] != 0) add_wrapping(flops->repeated_ns, duration);
    }
    if (!is_known) return;
    add_wrapping(sum.known_ns, duration);
    if (least_) add_wrapping(sum.least_known_ns, duration);
    if (counted_.empty()) counted_.assign(num_rows(trace_.ranges), false);
    if (counted_[index_of(range)]) return;
    counted_[index_of(range)] = true;
    sum.flops += work_->flops;
    sum.bytes += work_->bytes;
    if (labels_.recompute[row] != 0) sum.recompute_flops += work_->flops;
    if (flops != nullptr) {
      flops->total += work_->flops;
      if (labels_.phase[row] == Phase::forward) flops->forward += work_->flops;
      if (labels_.recompute[row] != 0) flops->recompute += work_->flops;
    }
    if (!least_) return;
    sum.least_ns += least_->ns;
    if (least_->bound == Bound::compute) sum.compute_bound_ns += least_->ns;
  }

 private:
  // A kernel of no class whose work no operator tells can be a product: a template a compiler wrote, an extension.
  static bool may_be_product(GpuClass gpu_class, bool is_known) {
    return gpu_class == GpuClass::gemm || gpu_class == GpuClass::attention ||
           (gpu_class == GpuClass::other && !is_known);
  }
  void look_up(RowId range) {
    last_ = range;
    work_.reset();
    least_.reset();
    const HostRangeTable& ranges = trace_.ranges;
    const std::uint32_t at = index_of(range);
    if (ranges.shapes[at] == kNoString) return;
    work_ = cache_.work_of(ranges.name[at], ranges.shapes[at], ranges.types[at], ranges.values[at]);
    if (work_ && spec_ != nullptr) least_ = least_ns(*work_, *spec_);
  }

  const TraceTables& trace_;
  const GpuWorkLabels& labels_;
  const GpuSpec* spec_;
  WorkCache cache_;
  RowId last_ = kNoRow;
  std::optional<Work> work_;  // of `last_`
  std::optional<LeastTime> least_;
  std::vector<bool> counted_;  // rows of ranges
};

void add_message(const GpuWorkLabels& labels, std::uint32_t row, std::int64_t duration, OperationSummary& sum) {
  const CollectiveLabels& collectives = labels.collectives;  // in order of row
  const auto at = std::lower_bound(collectives.gpu_row.begin(), collectives.gpu_row.end(), row);
  if (at == collectives.gpu_row.end() || *at != row) return;
  const std::int64_t bytes = collectives.bytes[static_cast<std::size_t>(at - collectives.gpu_row.begin())];
  if (bytes == kNoNumber) return;
  add_wrapping(sum.message_bytes, bytes);
  add_wrapping(sum.message_ns, duration);
}

void add_gap(const LaunchGap& gap, std::uint32_t group, std::vector<OperationSummary>& sums) {
  if (group == sums.size()) sums.emplace_back();
  sums[group].prep_ns += gap.prep_ns();
  sums[group].call_ns += gap.call_ns();
  sums[group].prep_idle_ns += gap.prep_idle_ns;
  sums[group].call_idle_ns += gap.call_idle_ns;
}

}  // namespace

void summarise_operations(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                          const Grain& grain, const GpuSpec* spec, GpuSummary& summary) {
  const GpuWorkTable& gpu = trace.gpu_work;
  Groups groups(labels, work.windows.in_steps, grain);
  std::vector<OperationSummary> sums;
  std::vector<Instance> instances = make_instances(labels, work.rows);
  std::vector<std::int64_t> compute_of_base(groups.num_bases(), 0);
  const std::vector<std::uint8_t>& complete = work.windows.complete;
  // Without a complete iteration all of them are better than nothing.
  const bool any_complete = std::any_of(complete.begin(), complete.end(), [](std::uint8_t c) { return c != 0; });

  summary.num_compared =
      any_complete ? std::count(complete.begin(), complete.end(), 1) : static_cast<std::int64_t>(complete.size());
  summary.flops.assign(complete.size(), {});
  CoverWalk comm(work.comm);
  WorkCounter counter(trace, labels, spec);
  StepWindows steps(work.windows);
  auto gap = work.gaps.begin();
  for (const std::uint32_t row : work.rows) {
    const std::uint32_t group = groups.of(row);
    if (group == sums.size()) sums.emplace_back();
    if (gap != work.gaps.end() && gap->row == row) {
      add_gap(*gap, groups.of(row, steps.hold(gap->from_ns)), sums);
      ++gap;
    }
    OperationSummary& sum = sums[group];
    const GpuClass gpu_class = labels.gpu_class[row];
    const std::int64_t duration = gpu.duration_ns[row], start = gpu.start_ns[row];
    sum.num_kernels++;
    add_wrapping(sum.duration_ns, duration);
    add_wrapping(sum.class_ns[static_cast<std::size_t>(gpu_class)], duration);
    if (labels.layer[row] != kUnknownLayer) sum.num_layer_known++;
    if (gpu_class == GpuClass::comm) {
      add_message(labels, row, duration, sum);
    } else {
      add_wrapping(sum.overlap_ns, comm.overlap(start, start + duration));
    }
    if (is_compute(gpu_class)) {
      add_wrapping(sum.compute_ns, duration);
      const std::int32_t k = labels.iteration[row];
      counter.add(row, sum, k >= 0 ? &summary.flops[static_cast<std::size_t>(k)] : nullptr);
      if (k >= 0 && (!any_complete || complete[static_cast<std::size_t>(k)] != 0))
        add_wrapping(compute_of_base[groups.all()[group].base], duration);
    }
    if (labels.launch[row] == kNoRow && is_chain_kernel(gpu, labels, row)) sum.num_no_launch++;
    Instance& instance = instances[labels.instance[row]];
    if (instance.group == kNone) instance = {0, start, start, group};
    add_wrapping(instance.duration_ns, duration);
    instance.last_ns = std::max(instance.last_ns, start + duration);
  }

  std::vector<std::vector<std::int64_t>> durations(sums.size());
  for (const Instance& instance : instances) {
    if (instance.group == kNone) continue;
    add_wrapping(sums[instance.group].elapsed_ns, instance.last_ns - instance.first_ns);
    durations[instance.group].push_back(instance.duration_ns);
  }
  for (std::size_t g = 0; g < sums.size(); g++) {
    sums[g].instances.add_all(durations[g]);
    const Groups::Group& group = groups.all()[g];
    summary.operations.emplace(OperationKey{Groups::phase_of(group.base), groups.operation_of(group.base),
                                            group.ordinal, group.layer, group.in_steps},
                               std::move(sums[g]));
  }
  for (std::size_t base = 0; base < compute_of_base.size(); base++) {
    if (compute_of_base[base] != 0)
      summary.compute_by_operation[{Groups::phase_of(base), groups.operation_of(base)}] = compute_of_base[base];
  }
}

}  // namespace chopper
