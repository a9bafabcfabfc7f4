// SPDX-License-Identifier: Apache-2.0
#include "attribute/attribute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "attribute/classes.h"
#include "attribute/collectives.h"
#include "attribute/iterations.h"
#include "attribute/links.h"
#include "attribute/modules.h"
#include "attribute/partners.h"
#include "attribute/repetition.h"
#include "attribute/sequences.h"
#include "attribute/stacks.h"
#include "base/parallel.h"

namespace chopper {
namespace {

void report_links(const TraceTables& trace, const LaunchLinks& links, std::string_view shown, HealthLog& health) {
  const auto where = [&](std::uint64_t offset) { return place_of(shown, trace.facts, offset); };
  const auto name = [&](StringId id) { return std::string(trace.strings.view(id).substr(0, 60)); };
  const GpuWorkTable& gpu = trace.gpu_work;
  std::uint64_t unlinked = 0, negative = 0;
  std::size_t first_unlinked = 0, first_negative = 0;
  for (std::size_t i = 0; i < links.launch.size(); i++) {
    if (links.launch[i] == kNoRow) {
      if (unlinked++ == 0) first_unlinked = i;
    } else if (gpu.start_ns[i] < trace.launches.start_ns[index_of(links.launch[i])]) {
      if (negative++ == 0) first_negative = i;
    }
  }
  if (unlinked > 0)
    health.add(HealthKind::kernels_without_launch, where(gpu.offset[first_unlinked]), name(gpu.name[first_unlinked]),
               unlinked);
  if (negative > 0)
    health.add(HealthKind::negative_launch_delay, where(gpu.offset[first_negative]), name(gpu.name[first_negative]),
               negative);
  if (links.num_ambiguous > 0) {
    health.add(HealthKind::ambiguous_correlation, where(gpu.offset[links.first_ambiguous]),
               "correlation " + std::to_string(gpu.correlation[links.first_ambiguous]), links.num_ambiguous);
  }
  if (!links.unanswered.empty()) {
    const std::uint32_t first = links.unanswered.front();
    health.add(HealthKind::launches_without_gpu_record, where(trace.launches.offset[first]),
               name(trace.launches.name[first]) + ", correlation " + std::to_string(trace.launches.correlation[first]),
               links.unanswered.size());
  }
}

constexpr std::size_t kDifferentPasses = 64;     // of which the blocks are looked for
constexpr std::int64_t kMostLayers = 1'000'000;  // far above any model: larger numbers come from damaged lists of ranks

// The label of one piece of work, while it is being found.
struct Named {
  StringId operation = kNoString;
  LabelRule operation_rule = LabelRule::none;
  std::int32_t layer = kUnknownLayer;
  LabelRule layer_rule = LabelRule::none;
};

// What a backward operator takes from its forward operator.
struct Partner {
  Named label;
  bool found = false;
  bool mixed = false;  // it launched several operations: a compiled or graphed block
};

class Attribution {
 public:
  Attribution(const TraceTables& trace, const AttributionRules& rules)
      : trace_(trace), gpu_(trace.gpu_work), rules_(rules) {}

  GpuWorkLabels run(std::string_view shown, HealthLog& health, unsigned threads) {
    names_.emplace(trace_.strings, rules_.classes, rules_.phases, rules_.operations, labels_.operations);
    run_tasks(threads, {[&] { links_ = link_launches(trace_); }, [&] { partners_.emplace(trace_); },
                        [&] { order_ = order_ranges(trace_); }, [&] { names_->learn(trace_.ranges); }});
    report_links(trace_, links_, shown, health);
    partner_labels_.resize(partners_->rows().size());
    partner_known_.assign(partners_->rows().size(), 0);
    look_up_stacks(threads);
    classify_gpu_work(trace_, rules_.classes, labels_);
    find_next_work();
    place_in_iterations();
    find_phases();
    IdleStacks idle;  // reads nothing that is written meanwhile
    run_tasks(threads, {[&] { name_forward(); }, [&] { idle = find_stacks_of_idle_partners(); }});
    partner_known_.assign(partners_->rows().size(), 0);  // those of repeated work were looked up before it had names
    name_idle_partners(idle);
    name_backward();
    name_backward_by_sequence();
    name_parts_of_operators();
    name_operations_of_the_rest([](std::size_t) { return true; });
    name_layers_of_the_rest();
    name_unlinked_collectives();
    number_instances();
    describe_collectives();
    return std::move(labels_);
  }

 private:
  void name_forward() {
    name_by_ranges();
    name_collectives();
    name_by_sequence();
    count_layers_of_stages();
    name_forward_collectives();
    name_parts_of_operators();
    name_operations_of_the_rest([&](std::size_t c) { return phases_[c] == Phase::forward; });
    name_repeated_forward();
    name_operations_of_the_rest([&](std::size_t c) { return repeats_[c] != 0; });
  }

  std::size_t num_records() const { return num_rows(gpu_); }
  std::span<const std::uint32_t> records_of(std::size_t call) const {
    return std::span<const std::uint32_t>(records_).subspan(records_begin_[call],
                                                            records_begin_[call + 1] - records_begin_[call]);
  }
  StringId name(std::string_view text) { return labels_.operations.intern(text); }
  std::int64_t time_of(const CallStack& stack) const { return trace_.launches.start_ns[stack.call]; }
  bool is_copy_around(std::uint32_t row) const { return labels_.comm_copy[row] != 0; }
  // Work that a sequence of operations is made of.
  bool is_model_work(std::uint32_t row) const { return is_compute(labels_.gpu_class[row]) && !is_copy_around(row); }

  void set_operation(std::uint32_t row, StringId operation, LabelRule rule) {
    labels_.operation[row] = operation;
    labels_.operation_rule[row] = rule;
  }
  void set_layer(std::uint32_t row, std::int32_t layer, LabelRule rule) {
    labels_.layer[row] = layer;
    labels_.layer_rule[row] = rule;
  }

  void look_up_stacks(unsigned threads) {
    std::vector<std::uint8_t> wanted(num_rows(trace_.launches), 0);
    for (const RowId launch : links_.launch) {
      if (launch != kNoRow) wanted[index_of(launch)] = 1;
    }
    stacks_ = find_stacks(trace_, order_, wanted, *partners_, *names_, threads);
    const std::size_t n = num_records();
    labels_.launch = links_.launch;
    labels_.range.assign(n, kNoRow);
    labels_.operation_range.assign(n, kNoRow);
    labels_.gpu_class.assign(n, GpuClass::other);
    labels_.comm_copy.assign(n, 0);
    labels_.iteration.assign(n, kNoIteration);
    labels_.phase.assign(n, Phase::unlabelled);
    labels_.layer.assign(n, kUnknownLayer);
    labels_.operation.assign(n, kNoString);
    labels_.recompute.assign(n, 0);
    labels_.graph.assign(n, 0);
    labels_.instance.assign(n, 0);
    labels_.phase_rule.assign(n, LabelRule::none);
    labels_.layer_rule.assign(n, LabelRule::none);
    labels_.operation_rule.assign(n, LabelRule::none);
    std::vector<std::int8_t> graph(trace_.strings.size(), -1);
    records_begin_.assign(stacks_.calls.size() + 1, 0);
    for (std::size_t i = 0; i < n; i++) {
      if (labels_.launch[i] == kNoRow) continue;
      const std::uint32_t call = index_of(labels_.launch[i]);
      const CallStack& stack = stacks_.calls[stacks_.of_call[call]];
      labels_.range[i] = stack.range;
      labels_.operation_range[i] = stack.operation;
      labels_.comm_copy[i] = stack.comm_copy ? 1 : 0;
      std::int8_t& known = graph[index_of(trace_.launches.name[call])];
      if (known < 0)
        known = trace_.strings.view(trace_.launches.name[call]).find("GraphLaunch") != std::string_view::npos ? 1 : 0;
      labels_.graph[i] = static_cast<std::uint8_t>(known);
      records_begin_[stacks_.of_call[call] + 1]++;
    }
    std::partial_sum(records_begin_.begin(), records_begin_.end(), records_begin_.begin());
    records_.resize(records_begin_.back());
    std::vector<std::uint32_t> fill(records_begin_.begin(), records_begin_.end() - 1);
    for (std::uint32_t i = 0; i < n; i++) {
      if (labels_.launch[i] != kNoRow) records_[fill[stacks_.of_call[index_of(labels_.launch[i])]]++] = i;
    }
    for (std::size_t call = 0; call < stacks_.calls.size(); call++) {  // the kernels of a graph
      const auto begin = records_.begin() + records_begin_[call];
      const auto end = records_.begin() + records_begin_[call + 1];
      if (end - begin < 2) continue;
      std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(gpu_.device[a], gpu_.start_ns[a], gpu_.duration_ns[a], gpu_.offset[a]) <
               std::tie(gpu_.device[b], gpu_.start_ns[b], gpu_.duration_ns[b], gpu_.offset[b]);
      });
    }
  }

  // COMP kernels of the gpu that has most of them, in order of launch.
  std::vector<LaunchedKernel> compute_launches() const {
    std::unordered_map<std::int32_t, std::size_t> counts;
    for (std::uint32_t i = 0; i < num_records(); i++) {
      if (is_compute(labels_.gpu_class[i]) && labels_.launch[i] != kNoRow) counts[gpu_.device[i]]++;
    }
    std::optional<std::pair<std::int32_t, std::size_t>> most;
    for (const auto& [device, count] : counts) {
      if (!most || count > most->second || (count == most->second && device < most->first)) most = {device, count};
    }
    if (!most) return {};
    struct Key {
      std::int64_t time_ns, start_ns;
      std::uint32_t row;
      auto operator<=>(const Key&) const = default;
    };
    std::vector<Key> keys;
    for (std::uint32_t i = 0; i < num_records(); i++) {
      if (gpu_.device[i] == most->first && is_compute(labels_.gpu_class[i]) && labels_.launch[i] != kNoRow)
        keys.push_back({trace_.launches.start_ns[index_of(labels_.launch[i])], gpu_.start_ns[i], i});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<LaunchedKernel> launches;
    for (const Key& key : keys) launches.push_back({key.time_ns, gpu_.name[key.row]});
    return launches;
  }

  void place_in_iterations() {
    labels_.iterations = find_marks(trace_, rules_.iteration_mark, [&] { return compute_launches(); });
    passes_ = find_engine_passes(trace_, order_);
    count_in_iterations(trace_, passes_, links_, labels_.iterations);
    for (std::size_t i = 0; i < num_records(); i++) {
      if (labels_.launch[i] != kNoRow)
        labels_.iteration[i] = iteration_at(labels_.iterations, trace_.launches.start_ns[index_of(labels_.launch[i])]);
    }
  }

  bool is_autograd_thread(ThreadId thread) const {
    return stacks_.engine_thread[index_of(thread)] != 0 && stacks_.forward_thread[index_of(thread)] == 0;
  }

  void find_phases() {
    struct PhaseFound {
      Phase phase;
      LabelRule rule;
    };
    phases_.resize(stacks_.calls.size());
    repeats_.assign(stacks_.calls.size(), 0);
    std::vector<LabelRule> rules(stacks_.calls.size());
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const CallStack& stack = stacks_.calls[c];
      const bool autograd = is_autograd_thread(stack.thread);
      const PhaseFound found = [&]() -> PhaseFound {
        if (stack.optimizer) return {Phase::optimizer, LabelRule::optimizer};
        if (autograd || stack.engine || stack.backward_operator) return {Phase::backward, LabelRule::engine};
        if (stack.partnered != kNoRow) return {Phase::forward, LabelRule::forward_link};
        if (stack.frame != kNoIndex) return {Phase::forward, LabelRule::module_class};
        if (stack.forward) return {Phase::forward, LabelRule::annotation};
        if (stack.backward) return {Phase::backward, LabelRule::annotation};
        return {Phase::other, LabelRule::host_range};
      }();
      phases_[c] = found.phase;
      rules[c] = found.rule;
      if (found.phase == Phase::backward && (autograd || stack.engine) && stack.repeats) repeats_[c] = 1;
    }
    find_clipping(rules);
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      for (const std::uint32_t row : records_of(c)) {
        labels_.phase[row] = phases_[c];
        labels_.phase_rule[row] = rules[c];
        labels_.recompute[row] = repeats_[c];
      }
    }
  }

  // Clipping without a range of its own: from an operator that begins it to the optimizer's step, with no model work
  // between.
  void find_clipping(std::vector<LabelRule>& rules) {
    std::size_t from = stacks_.calls.size();
    bool open = false;
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const CallStack& stack = stacks_.calls[c];
      if (c > 0 && stack.thread != stacks_.calls[c - 1].thread) open = false;
      if (phases_[c] == Phase::other) {
        if (!open && stack.clip) {
          open = true;
          from = c;
        }
        continue;
      }
      if (phases_[c] == Phase::optimizer && !stack.optimizer_step)
        continue;  // gradients are unscaled behind their norm
      if (open && phases_[c] == Phase::optimizer && stack.optimizer_step) {
        const StringId clip = name("opt_gc");
        for (std::size_t k = from; k < c; k++) {
          if (phases_[k] != Phase::other) continue;
          phases_[k] = Phase::optimizer;
          rules[k] = LabelRule::optimizer;
          if (stacks_.calls[k].named_operation != kNoString) continue;
          stacks_.calls[k].named_operation = clip;
          stacks_.calls[k].operation_rule = LabelRule::optimizer;
        }
      }
      open = false;
    }
  }

  // Annotations, module paths, frames.
  Named name_of_stack(const CallStack& stack) const {
    Named named;
    named.operation = stack.named_operation;
    named.operation_rule = stack.operation_rule;
    named.layer = stack.layer;
    named.layer_rule = stack.layer_rule;
    const std::uint32_t block = modules_->block_of(stack.frame);
    if (block != kNoIndex && (named.layer == kUnknownLayer || stacks_.frames[block].depth > stack.name_depth)) {
      named.layer = stacks_.frames[block].instance;
      named.layer_rule = LabelRule::module_class;
    }
    if (named.operation == kNoString) {
      named.operation = modules_->operation_of(stack.frame);
      if (named.operation != kNoString) named.operation_rule = LabelRule::module_class;
    }
    return named;
  }

  void name_by_ranges() {
    modules_.emplace(stacks_, rules_.phases, rules_.operations, labels_.operations);
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const Named named = name_of_stack(stacks_.calls[c]);
      for (const std::uint32_t row : records_of(c)) {
        if (named.operation != kNoString) set_operation(row, named.operation, named.operation_rule);
        if (named.layer != kUnknownLayer) set_layer(row, named.layer, named.layer_rule);
        const std::uint32_t frame = stacks_.calls[c].frame;
        if (named.operation != kNoString || frame == kNoIndex || !is_model_work(row)) continue;
        for (const ModuleLabels::WorkRule& rule : modules_->work_rules_of(frame)) {
          if ((features_of_work(row) & rule.accepts) == 0) continue;
          set_operation(row, rule.operation, LabelRule::module_class);
          break;
        }
      }
    }
  }

  FeatureSet features_of_work(std::uint32_t row) {
    const RowId operation = labels_.operation_range[row];
    const StringId operator_name = operation == kNoRow ? kNoString : trace_.ranges.name[index_of(operation)];
    const std::uint64_t names = static_cast<std::uint64_t>(index_of(operator_name)) << 32 | index_of(gpu_.name[row]);
    const auto [known, inserted] = features_.try_emplace(names, 0);
    if (inserted) {
      known->second = features_of(rules_.operations.features,
                                  operator_name == kNoString ? std::string_view() : trace_.strings.view(operator_name),
                                  trace_.strings.view(gpu_.name[row]), labels_.gpu_class[row]);
    }
    return known->second;
  }

  void name_collectives() {
    for (std::uint32_t row = 0; row < num_records(); row++) {
      if (labels_.gpu_class[row] != GpuClass::comm) continue;
      const CallStack* stack = stack_of(row);
      const RowId metadata = metadata_of(trace_, row, stack);
      set_operation(row, name(kind_of_collective(trace_, labels_.operations, row, metadata, stack)),
                    LabelRule::collective);
    }
  }
  const CallStack* stack_of(std::uint32_t row) const {
    return labels_.launch[row] == kNoRow ? nullptr : &stacks_.calls[stacks_.of_call[index_of(labels_.launch[row])]];
  }

  // Calls `use(call, row)` for the model work of calls that `wanted` accepts, in order of launch on each thread.
  template <class Wanted, class Use>
  void for_each_work(Wanted&& wanted, Use&& use) const {
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (!wanted(c)) continue;
      for (const std::uint32_t row : records_of(c)) {
        if (is_model_work(row)) use(c, row);
      }
    }
  }

  // The work of some calls as items of a sequence, and which item each record is part of.
  struct Stream {
    std::vector<SequenceItem> items;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> records;  // row, item
    bool all_named = true;
  };

  void add_to_stream(Stream& stream, std::uint32_t row, std::uint32_t pass) {
    const RowId operation = labels_.operation_range[row];
    const std::string_view operator_name =
        operation == kNoRow ? std::string_view() : trace_.strings.view(trace_.ranges.name[index_of(operation)]);
    SequenceItem item;
    item.features = features_of_work(row);
    item.pass = pass;
    item.operation = labels_.operation[row];
    stream.all_named = stream.all_named && item.operation != kNoString && labels_.layer[row] != kUnknownLayer;
    // A product that takes several kernels is one item.
    const bool same_product = !stream.records.empty() && item.features == bit(Feature::gemm) &&
                              operator_name.starts_with("aten::") &&
                              labels_.operation_range[stream.records.back().first] == operation &&
                              stream.items.back().features == item.features;
    if (!same_product) stream.items.push_back(item);
    stream.records.emplace_back(row, static_cast<std::uint32_t>(stream.items.size() - 1));
  }

  void apply(const Stream& stream, const SequenceResult& result, bool with_layers) {
    for (const auto& [row, item] : stream.records) {
      const SequenceLabel& label = result.labels[item];
      if (label.operation == kNoString) continue;
      if (labels_.operation[row] == kNoString) set_operation(row, label.operation, LabelRule::sequence);
      if (with_layers && labels_.layer[row] == kUnknownLayer) set_layer(row, label.layer, LabelRule::sequence);
    }
  }

  // Which pass of the engine goes back through each partner: the first.
  std::vector<std::uint32_t> passes_of_partners() const {
    struct OfThread {
      std::vector<std::int64_t> start_ns;
      std::vector<std::uint32_t> pass;
    };
    std::map<std::pair<ThreadId, std::int64_t>, OfThread> threads;
    for (std::uint32_t i = 0; i < passes_.size(); i++) {
      OfThread& thread = threads[{passes_[i].thread, passes_[i].forward_thread}];
      thread.start_ns.push_back(passes_[i].start_ns);
      thread.pass.push_back(i);
    }
    std::vector<std::uint32_t> pass_of(partners_->rows().size(), kNoIndex);
    const HostRangeTable& ranges = trace_.ranges;
    for (std::uint32_t row = 0; row < num_rows(ranges); row++) {
      if (ranges.forward_thread[row] <= 0) continue;
      const std::optional<std::uint32_t> partner = partners_->partner_of(RowId{row});
      if (!partner) continue;
      const auto thread = threads.find({ranges.thread[row], ranges.forward_thread[row]});
      if (thread == threads.end()) continue;
      const std::vector<std::int64_t>& starts = thread->second.start_ns;
      const auto behind = std::upper_bound(starts.begin(), starts.end(), ranges.start_ns[row]);
      if (behind == starts.begin()) continue;
      const std::uint32_t pass = thread->second.pass[static_cast<std::size_t>(behind - starts.begin()) - 1];
      pass_of[*partner] = std::min(pass_of[*partner], pass);
    }
    return pass_of;
  }

  void name_by_sequence() {
    Stream stream;
    const std::vector<std::uint32_t> pass_of = passes_of_partners();
    const bool has_roots =
        std::any_of(stacks_.calls.begin(), stacks_.calls.end(), [&](const CallStack& s) { return s.root != kNoRow; });
    std::uint32_t pass = 0;
    RowId last_root = kNoRow;
    std::size_t passes_before = 0;
    std::uint32_t last_backward = kNoIndex;
    ThreadId last_thread{UINT32_MAX};
    for_each_work([&](std::size_t c) { return phases_[c] == Phase::forward; },
                  [&](std::size_t c, std::uint32_t row) {
                    const CallStack& stack = stacks_.calls[c];
                    if (stack.thread != last_thread) {
                      pass++;
                      last_thread = stack.thread;
                      last_root = kNoRow;
                      last_backward = kNoIndex;
                      passes_before = 0;
                    }
                    // Forward passes may follow each other, as in pipelines; each has its own backward pass.
                    const std::uint32_t backward =
                        stack.partnered == kNoRow ? kNoIndex : pass_of[*partners_->number_of(stack.partnered)];
                    if (backward != kNoIndex && last_backward != kNoIndex && backward != last_backward) pass++;
                    if (backward != kNoIndex) last_backward = backward;
                    if (has_roots) {
                      if (stack.root != kNoRow && stack.root != last_root) {
                        pass++;
                        last_root = stack.root;
                      }
                    } else {
                      const std::size_t before = passes_begun(time_of(stack));
                      if (before != passes_before) pass++;
                      passes_before = before;
                    }
                    add_to_stream(stream, row, pass);
                  });
    if (stream.items.empty()) return;
    std::optional<SequenceResult> best;
    for (const KernelSequence& sequence : rules_.operations.sequences) {
      if (sequence.backward) continue;
      SequenceResult result = run_sequence(sequence, stream.items, labels_.operations);
      // A map that fits leaves hardly anything out; one made for other blocks loses its way in each of them.
      if (result.num_layers == 0 || result.num_labelled * 100 < stream.items.size() * 98) continue;
      if (best && best->num_labelled >= result.num_labelled) continue;
      best = std::move(result);
      sequence_ = &sequence;
    }
    if (best) {
      apply(stream, *best, true);
      return;
    }
    const bool any_layer = std::any_of(stream.records.begin(), stream.records.end(),
                                       [&](const auto& record) { return labels_.layer[record.first] >= 0; });
    if (!any_layer) find_blocks(stream);
  }

  // By record: forward work launched right behind the copies of a collective.
  std::vector<std::uint8_t> work_behind_copies() const {
    std::vector<std::uint8_t> behind(num_records(), 0);
    bool copies = false;
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (c > 0 && stacks_.calls[c].thread != stacks_.calls[c - 1].thread) copies = false;
      if (phases_[c] != Phase::forward) continue;
      for (const std::uint32_t row : records_of(c)) {
        if (is_copy_around(row)) copies = true;
        if (!is_model_work(row)) continue;
        behind[row] = copies ? 1 : 0;
        copies = false;
      }
    }
    return behind;
  }

  // Models that nothing names: the layers are what repeats itself in a pass.
  void find_blocks(const Stream& stream) {
    struct Pass {
      std::size_t begin = 0, end = 0;  // records of the stream
      std::size_t pattern = 0;
    };
    std::vector<Pass> passes;
    std::map<std::vector<std::uint32_t>, std::size_t> patterns;  // passes are mostly alike
    std::vector<std::vector<std::int32_t>> layers;
    const std::vector<std::uint8_t> begins = work_behind_copies();
    PassKernels kernels;
    std::vector<std::uint32_t> pattern;
    const auto key_of = [&](std::size_t at) {
      const auto& [row, item] = stream.records[at];
      return std::make_pair(stream.items[item].pass, labels_.iteration[row]);
    };
    for (std::size_t begin = 0, end = 0; begin < stream.records.size(); begin = end) {
      kernels = {};
      pattern.clear();
      for (end = begin; end < stream.records.size() && key_of(end) == key_of(begin); end++) {
        const std::uint32_t row = stream.records[end].first;
        kernels.names.push_back(index_of(gpu_.name[row]));
        kernels.classes.push_back(labels_.gpu_class[row]);
        kernels.begins.push_back(begins[row]);
        pattern.push_back(2 * kernels.names.back() + begins[row]);
      }
      const auto [at, inserted] = patterns.try_emplace(pattern, layers.size());
      // Some passes with layers and some without would pass for different work.
      if (inserted && patterns.size() > kDifferentPasses) return void(some_work_unplaced_ = true);
      if (inserted) layers.push_back(layers_by_repetition(kernels));
      passes.push_back({begin, end, at->second});
    }
    for (const Pass& pass : passes) {
      for (std::size_t i = pass.begin; i < pass.end; i++) {
        const std::int32_t layer = layers[pass.pattern][i - pass.begin];
        some_work_unplaced_ = some_work_unplaced_ || layer == kUnknownLayer;
        if (layer != kUnknownLayer) set_layer(stream.records[i].first, layer, LabelRule::repetition);
      }
    }
  }

  static bool is_counted(LabelRule rule) { return rule == LabelRule::sequence || rule == LabelRule::repetition; }

  // A stage of a pipeline holds an equal part of the blocks: what the order of kernels counts from 0 begins where the
  // stages before end.
  void count_layers_of_stages() {
    std::int32_t num_layers = 0;
    for (std::size_t i = 0; i < num_records(); i++) {
      if (is_counted(labels_.layer_rule[i])) num_layers = std::max(num_layers, labels_.layer[i] + 1);
    }
    if (num_layers == 0 || !trace_.facts.rank) return;
    const StringId p2p = name("p2p");
    for (std::uint32_t row = 0; row < num_records(); row++) {
      if (labels_.gpu_class[row] != GpuClass::comm || labels_.operation[row] != p2p) continue;
      const RowId metadata = metadata_of(trace_, row, stack_of(row));
      if (metadata == kNoRow || !is_pipeline_group(trace_, rules_.groups, metadata)) continue;
      const std::optional<std::int32_t> stage = place_in_group(trace_, metadata, *trace_.facts.rank);
      if (!stage) continue;
      const std::int64_t first_layer = std::int64_t{*stage} * num_layers;
      if (first_layer > kMostLayers) return;
      for (std::size_t i = 0; i < num_records(); i++) {
        if (is_counted(labels_.layer_rule[i]) && labels_.layer[i] >= 0)
          labels_.layer[i] += static_cast<std::int32_t>(first_layer);
      }
      return;
    }
  }

  std::size_t passes_begun(std::int64_t time) const {
    return static_cast<std::size_t>(
        std::upper_bound(passes_.begin(), passes_.end(), time,
                         [](std::int64_t t, const EnginePass& p) { return t < p.start_ns; }) -
        passes_.begin());
  }

  // The first model work launched on a thread at some call or later: call and record.
  struct Found {
    std::uint32_t call = 0;
    std::uint32_t row = UINT32_MAX;
  };
  // For each call, and the end of all. Work of other threads is not found.
  void find_next_work() {
    const std::size_t n = stacks_.calls.size();
    call_times_.resize(n);
    calls_begin_.assign(trace_.threads.size() + 1, 0);
    next_work_.assign(n + 1, {});
    for (std::size_t c = n; c-- > 0;) {
      call_times_[c] = time_of(stacks_.calls[c]);
      calls_begin_[index_of(stacks_.calls[c].thread) + 1]++;
      if (c + 1 < n && stacks_.calls[c + 1].thread == stacks_.calls[c].thread) next_work_[c] = next_work_[c + 1];
      for (const std::uint32_t row : records_of(c)) {
        if (!is_model_work(row)) continue;
        next_work_[c] = {static_cast<std::uint32_t>(c), row};
        break;
      }
    }
    std::partial_sum(calls_begin_.begin(), calls_begin_.end(), calls_begin_.begin());
  }
  const Found& next_work(std::size_t call) const { return next_work_[call]; }
  // The first call made on a thread at `time` or later; one of another thread, or the end, when there is none.
  std::size_t first_call_at(ThreadId thread, std::int64_t time) const {
    const auto begin = call_times_.begin() + calls_begin_[index_of(thread)];
    const auto end = call_times_.begin() + calls_begin_[index_of(thread) + 1];
    return static_cast<std::size_t>(std::lower_bound(begin, end, time) - call_times_.begin());
  }

  Named label_of(std::uint32_t row) const {
    return {labels_.operation[row], labels_.operation_rule[row], labels_.layer[row], labels_.layer_rule[row]};
  }

  // Collectives of the forward pass, and copies around them, serve the block whose work follows, unless a name says
  // otherwise.
  void name_forward_collectives() {
    const StringId p2p = name("p2p");
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (phases_[c] != Phase::forward) continue;
      for (const std::uint32_t row : records_of(c)) {
        if (is_model_work(row) || labels_.layer[row] != kUnknownLayer) continue;
        const Found next = next_work(c + 1);
        if (labels_.operation[row] == p2p) {
          set_layer(row, kOutsideLayers, LabelRule::collective);
        } else if (next.row != UINT32_MAX && stacks_.calls[next.call].thread == stacks_.calls[c].thread &&
                   phases_[next.call] == Phase::forward && labels_.layer[next.row] != kUnknownLayer) {
          set_layer(row, labels_.layer[next.row], LabelRule::order);
        }
      }
    }
  }

  const Partner& partner_label(RowId backward) {
    static const Partner kNone;
    const std::optional<std::uint32_t> number = partners_->partner_of(backward);
    if (!number) return kNone;
    if (partner_known_[*number] == 0) partner_labels_[*number] = label_of_operator(partners_->rows()[*number]);
    partner_known_[*number] = 1;
    return partner_labels_[*number];
  }

  // Labels of a forward operator: those of the work launched in it. One that launched none has its own stack, looked up
  // in advance by find_stacks_of_idle_partners; in a known sequence it belongs to what follows it (views are taken for
  // the operation that uses them).
  Partner label_of_operator(std::uint32_t row) {
    const HostRangeTable& ranges = trace_.ranges;
    const std::int64_t end = ranges.start_ns[row] + ranges.duration_ns[row];
    const Found first = next_work(first_call_at(ranges.thread[row], ranges.start_ns[row]));
    const bool usable = first.row != UINT32_MAX && stacks_.calls[first.call].thread == ranges.thread[row] &&
                        (phases_[first.call] == Phase::forward || repeats_[first.call] != 0);
    Partner partner;
    if (!usable || time_of(stacks_.calls[first.call]) >= end) {
      const auto idle = idle_partners_.find(row);
      if (idle != idle_partners_.end()) partner = idle->second;
      if (!usable) return partner;
      const Named next = label_of(first.row);
      const bool by_sequence = next.operation_rule == LabelRule::sequence &&
                               partner.label.operation_rule != LabelRule::annotation &&
                               partner.label.operation_rule != LabelRule::module_path;
      if (by_sequence || !partner.found) {
        partner.label.operation = next.operation;
        partner.label.operation_rule = next.operation_rule;
      }
      if (partner.label.layer == kUnknownLayer) {
        partner.label.layer = next.layer;
        partner.label.layer_rule = next.layer_rule;
      }
      partner.found = true;
      return partner;
    }
    partner.found = true;
    partner.label = label_of(first.row);
    for (std::size_t c = first.call; c < stacks_.calls.size(); c++) {
      const CallStack& stack = stacks_.calls[c];
      if (stack.thread != ranges.thread[row] || time_of(stack) >= end) break;
      for (const std::uint32_t work : records_of(c)) {
        if (!is_model_work(work)) continue;
        if (labels_.operation[work] != partner.label.operation) partner.mixed = true;
        if (labels_.layer[work] != partner.label.layer && partner.label.layer == kUnknownLayer)
          partner.label.layer = labels_.layer[work];
      }
    }
    return partner;
  }

  // Forward operators that launched no work, but whose backward operators did: their rows and stacks.
  struct IdleStacks {
    std::vector<std::uint32_t> rows;
    std::vector<CallStack> stacks;
  };
  IdleStacks find_stacks_of_idle_partners() {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint8_t> looked_at(partners_->rows().size(), 0);
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const RowId node = stacks_.calls[c].engine_node;
      if (phases_[c] != Phase::backward || repeats_[c] != 0 || node == kNoRow) continue;
      const std::optional<std::uint32_t> number = partners_->partner_of(node);
      if (!number || looked_at[*number] != 0) continue;
      looked_at[*number] = 1;
      const std::uint32_t row = partners_->rows()[*number];
      const Found first = next_work(first_call_at(trace_.ranges.thread[row], trace_.ranges.start_ns[row]));
      const bool inside =
          first.row != UINT32_MAX && stacks_.calls[first.call].thread == trace_.ranges.thread[row] &&
          time_of(stacks_.calls[first.call]) < trace_.ranges.start_ns[row] + trace_.ranges.duration_ns[row];
      if (!inside) rows.push_back(row);
    }
    if (rows.empty()) return {};
    std::vector<CallStack> stacks = find_stacks_of_ranges(trace_, order_, rows, *partners_, *names_);
    return {std::move(rows), std::move(stacks)};
  }

  void name_idle_partners(const IdleStacks& idle) {
    if (idle.rows.empty()) return;
    std::unordered_map<std::uint32_t, std::uint32_t> frame_of_row;
    for (std::uint32_t f = 0; f < stacks_.frames.size(); f++) frame_of_row.emplace(stacks_.frames[f].row, f);
    for (std::size_t i = 0; i < idle.rows.size(); i++) {
      CallStack stack = idle.stacks[i];
      stack.frame = kNoIndex;
      StringId frame_class = kNoString;
      if (stack.frame_row != kNoIndex) {
        const auto frame = frame_of_row.find(stack.frame_row);
        if (frame != frame_of_row.end()) stack.frame = frame->second;
        frame_class = names_->facts(trace_.ranges.name[stack.frame_row], RangeKind::module).module_class;
      }
      Partner& partner = idle_partners_[idle.rows[i]];
      partner.found = true;
      partner.label = name_of_stack(stack);
      if (partner.label.operation == kNoString) partner.label = rest_name_of(stack, frame_class, partner.label);
    }
  }

  // Layer of the node evaluated last on the thread of a call.
  Named last_node_label(const CallStack& stack) {
    if (stack.last_node == kNoRow) return {};
    return partner_label(stack.last_node).label;
  }

  // Repeated forward work: its layer is that of the node it is repeated for.
  void name_repeated_forward() {
    Stream stream;
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (repeats_[c] == 0) continue;
      const CallStack& stack = stacks_.calls[c];
      const RowId node = stack.engine_node != kNoRow ? stack.engine_node : stack.last_node;
      const Named around = node == kNoRow ? Named{} : partner_label(node).label;
      for (const std::uint32_t row : records_of(c)) {
        if (is_layer_free(row, stack, around) && around.layer != kUnknownLayer)
          set_layer(row, around.layer, LabelRule::forward_link);
        if (is_model_work(row)) add_to_stream(stream, row, node == kNoRow ? 0 : index_of(node));
      }
    }
    if (stream.items.empty() || sequence_ == nullptr) return;
    apply(stream, run_sequence(*sequence_, stream.items, labels_.operations), false);
  }

  // Whether the node around a call says its layer: nothing does, or only what is outside of the node.
  bool is_layer_free(std::uint32_t row, const CallStack& stack, const Named& of_node) const {
    if (labels_.layer[row] == kUnknownLayer) return true;
    if (labels_.layer[row] < 0 || of_node.layer < 0 || stack.engine_node == kNoRow) return false;
    const std::uint32_t block = modules_->block_of(stack.frame);
    return (stack.layer == kUnknownLayer || stack.name_depth < stack.node_depth) &&
           (block == kNoIndex || stacks_.frames[block].depth < stack.node_depth);
  }

  void name_backward() {
    const StringId p2p = name("p2p");
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (phases_[c] != Phase::backward || repeats_[c] != 0) continue;
      const CallStack& stack = stacks_.calls[c];
      const bool node = stack.engine_node != kNoRow;
      const Partner partner = node ? partner_label(stack.engine_node) : Partner{};
      const bool before_node = stack.before_node;
      for (const std::uint32_t row : records_of(c)) {
        if (labels_.operation[row] == kNoString && partner.found && !partner.mixed &&
            partner.label.operation != kNoString && names_node(stack.engine_node, partner.label))
          set_operation(row, partner.label.operation, LabelRule::forward_link);
        const bool accumulates = stack.accumulate || (!node && !stack.engine && adds_gradients(stack));
        if (labels_.operation[row] == kNoString && accumulates) set_operation(row, name("b_ga"), LabelRule::engine);
        if (labels_.operation[row] == p2p) set_layer(row, kOutsideLayers, LabelRule::collective);
        if (!is_layer_free(row, stack, partner.label)) continue;
        if (partner.found && partner.label.layer != kUnknownLayer) {
          set_layer(row, partner.label.layer, LabelRule::forward_link);
        } else if (!node && !before_node) {
          const Named last = last_node_label(stack);
          if (last.layer != kUnknownLayer) set_layer(row, last.layer, LabelRule::order);
        }
      }
    }
    name_gathers_of_backward();
  }

  // Whether the operation of a node's partner is its own. A C++ function with a gradient of its own may have no forward
  // operator with a number: its partner is then another one, that only tells where the function was called.
  bool names_node(RowId node, const Named& of_partner) {
    const bool by_operator =
        of_partner.operation_rule == LabelRule::operator_name || of_partner.operation_rule == LabelRule::host_range;
    if (!by_operator) return true;
    const StringId name = trace_.ranges.name[index_of(node)];
    if (!names_->facts(name, trace_.ranges.kind[index_of(node)]).custom_function) return true;
    const std::optional<std::uint32_t> partner = partners_->partner_of(node);
    return partner && is_called_like(trace_.strings.view(trace_.ranges.name[partners_->rows()[*partner]]),
                                     custom_function_of(trace_.strings.view(name)));
  }

  bool adds_gradients(const CallStack& stack) const {
    if (stack.outermost_operation == kNoRow) return false;
    const std::string_view operation = trace_.strings.view(trace_.ranges.name[index_of(stack.outermost_operation)]);
    const std::vector<std::string>& names = rules_.phases.accumulate_operators;
    return std::find(names.begin(), names.end(), operation) != names.end();
  }

  // Gathers of the backward pass that no name places: made before the node that needs them (hooks), or ahead of it
  // (prefetch).
  void name_gathers_of_backward() {
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const CallStack& stack = stacks_.calls[c];
      if (phases_[c] != Phase::backward || !stack.before_node) continue;
      for (const std::uint32_t row : records_of(c)) {
        if (labels_.layer[row] != kUnknownLayer) continue;
        const Found next = next_work(c + 1);
        if (next.row == UINT32_MAX || stacks_.calls[next.call].thread != stack.thread ||
            phases_[next.call] != Phase::backward || labels_.iteration[next.row] != labels_.iteration[row])
          continue;
        const std::int32_t needed = labels_.layer[next.row];
        if (needed == kUnknownLayer) continue;
        if (!stack.prefetch) {
          set_layer(row, needed, LabelRule::order);
        } else if (needed != kOutsideLayers) {
          set_layer(row, needed > 0 ? needed - 1 : kOutsideLayers, LabelRule::order);
          launch_layers_[row] = needed;
        }
      }
    }
  }

  // Blocks that ran as one piece: their backward kernels by the order of the map that named the forward ones.
  void name_backward_by_sequence() {
    Stream stream;
    std::uint32_t pass = 0;
    RowId last = kNoRow;
    for_each_work(
        [&](std::size_t c) {
          const CallStack& stack = stacks_.calls[c];
          return phases_[c] == Phase::backward && repeats_[c] == 0 && stack.engine_node != kNoRow &&
                 partner_label(stack.engine_node).mixed;
        },
        [&](std::size_t c, std::uint32_t row) {
          const RowId node = stacks_.calls[c].last_node;
          if (node != last) pass++;
          last = node;
          add_to_stream(stream, row, pass);
        });
    if (stream.items.empty() || sequence_ == nullptr) return;
    for (const KernelSequence& sequence : rules_.operations.sequences) {
      if (sequence.backward && sequence.map == sequence_->map)
        apply(stream, run_sequence(sequence, stream.items, labels_.operations), false);
    }
  }

  // Fills and copies that an operator makes besides its work are part of it.
  void name_parts_of_operators() {
    const auto same_operator = [&](std::size_t a, std::size_t b) {
      return b < stacks_.calls.size() && stacks_.calls[b].thread == stacks_.calls[a].thread &&
             stacks_.calls[b].operation == stacks_.calls[a].operation;
    };
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (stacks_.calls[c].operation == kNoRow) continue;
      for (const std::uint32_t row : records_of(c)) {
        if (!is_copy(labels_.gpu_class[row]) || labels_.operation[row] != kNoString) continue;
        for (const std::size_t neighbour :
             {c + 1, c - 1}) {  // of call 0 the one before is none: it wraps to the largest number
          if (!same_operator(c, neighbour) || records_of(neighbour).empty()) continue;
          const std::uint32_t other = records_of(neighbour).front();
          if (!is_model_work(other) || labels_.operation[other] == kNoString) continue;
          set_operation(row, labels_.operation[other], labels_.operation_rule[other]);
          if (labels_.layer[row] == kUnknownLayer) set_layer(row, labels_.layer[other], labels_.layer_rule[other]);
          break;
        }
      }
    }
  }

  bool has_layers() const {
    return std::any_of(labels_.layer.begin(), labels_.layer.end(), [](std::int32_t layer) { return layer >= 0; });
  }

  // What no range, link or sequence names: by module path, module class, outermost operator.
  Named rest_name_of(const CallStack& stack, StringId frame_class, Named named) {
    if (stack.path_end != kNoString) {
      named.operation = stack.path_end;
      named.operation_rule = LabelRule::module_path;
    } else if (frame_class != kNoString) {
      named.operation = frame_class;
      named.operation_rule = LabelRule::module_class;
    } else if (stack.outermost_operation != kNoRow) {
      std::string_view text = trace_.strings.view(trace_.ranges.name[index_of(stack.outermost_operation)]);
      constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
      if (text.starts_with(kNode)) text.remove_prefix(kNode.size());
      named.operation = name(text);
      named.operation_rule = LabelRule::operator_name;
    }
    return named;
  }

  // Copies and graphs launched outside of all that are called after their launch call; other kernels stay without a
  // name.
  template <class Wanted>
  void name_operations_of_the_rest(Wanted&& wanted) {
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (!wanted(c)) continue;
      const CallStack& stack = stacks_.calls[c];
      for (const std::uint32_t row : records_of(c)) {
        if (labels_.operation[row] != kNoString) continue;
        const StringId frame_class = stack.frame == kNoIndex ? kNoString : stacks_.frames[stack.frame].class_name;
        const Named named = rest_name_of(stack, frame_class, {});
        if (named.operation != kNoString) {
          set_operation(row, named.operation, named.operation_rule);
        } else if (is_copy(labels_.gpu_class[row]) || labels_.graph[row] != 0) {
          set_operation(row, name(trace_.strings.view(trace_.launches.name[stack.call])), LabelRule::host_range);
        }
      }
    }
  }

  void name_layers_of_the_rest() {
    const bool layers = has_layers() && !some_work_unplaced_;
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      const CallStack& stack = stacks_.calls[c];
      for (const std::uint32_t row : records_of(c)) {
        if (labels_.layer[row] != kUnknownLayer) continue;
        const bool outside = phases_[c] == Phase::optimizer || phases_[c] == Phase::other ||
                             (layers && (phases_[c] == Phase::forward || repeats_[c] != 0 || linked_outside(stack)));
        if (outside) set_layer(row, kOutsideLayers, labels_.phase_rule[row]);
      }
    }
  }
  // Whether a backward call belongs to a node whose forward operator is known, and so known to lie outside the blocks.
  bool linked_outside(const CallStack& stack) {
    const RowId node = stack.engine_node != kNoRow ? stack.engine_node : stack.last_node;
    return node == kNoRow || partner_label(node).found;  // before the first node: what begins the pass
  }

  struct InstanceKey {
    std::int32_t iteration;
    Phase phase;
    std::uint8_t recompute;
    std::int32_t layer;
    StringId operation;
    bool operator==(const InstanceKey&) const = default;
  };
  // Collectives whose records carry correlation 0 (older ROCm): where the host made as many calls that no record
  // answers, the n-th record by start belongs to the n-th call. That is enough for labels, not for launch times.
  void name_unlinked_collectives() {
    std::vector<std::uint32_t> unlinked;
    for (std::uint32_t row = 0; row < num_records(); row++) {
      if (labels_.gpu_class[row] == GpuClass::comm && labels_.launch[row] == kNoRow && gpu_.correlation[row] == kNoId)
        unlinked.push_back(row);
    }
    if (unlinked.empty()) return;
    std::vector<std::uint8_t> answered(num_rows(trace_.ranges), 0);
    for (const CallStack& stack : stacks_.calls) {
      if (stack.comms != kNoRow) answered[index_of(stack.comms)] = 1;
    }
    std::vector<std::uint32_t> calls;
    for (std::uint32_t row = 0; row < num_rows(trace_.ranges); row++) {
      if (answered[row] != 0 || trace_.ranges.collective[row] == kNoRow) continue;
      const std::uint32_t said = index_of(trace_.ranges.collective[row]);
      if (trace_.collectives.group_size[said] == 1 ||
          collective_kind(trace_.strings.view(trace_.collectives.kind[said])).empty())
        continue;  // waits and the like launch nothing
      calls.push_back(row);
    }
    if (calls.size() != unlinked.size()) return;
    const auto by_start = [](const auto& starts, const auto& offsets) {
      return [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(starts[a], offsets[a]) < std::tie(starts[b], offsets[b]);
      };
    };
    std::sort(calls.begin(), calls.end(), by_start(trace_.ranges.start_ns, trace_.ranges.offset));
    std::sort(unlinked.begin(), unlinked.end(), by_start(gpu_.start_ns, gpu_.offset));
    const std::vector<CallStack> stacks = find_stacks_of_ranges(trace_, order_, calls, *partners_, *names_);
    for (std::size_t i = 0; i < calls.size();
         i++) {  // a record that names another collective, or another gpu: the order tells nothing
      const std::string_view kind = collective_kind(trace_.strings.view(gpu_.name[unlinked[i]]));
      const std::uint32_t said = index_of(trace_.ranges.collective[calls[i]]);
      const bool agree = kind.empty() || kind == collective_kind(trace_.strings.view(trace_.collectives.kind[said]));
      if (!agree || gpu_.device[unlinked[i]] != gpu_.device[unlinked[0]]) return;
    }
    for (std::size_t i = 0; i < calls.size(); i++) {
      const std::uint32_t row = unlinked[i];
      const CallStack& stack = stacks[i];
      const RowId metadata = trace_.ranges.collective[calls[i]];
      metadata_by_order_[row] = metadata;
      set_operation(row, name(kind_of_collective(trace_, labels_.operations, row, metadata, &stack)),
                    LabelRule::stream_order);
      const bool backward = is_autograd_thread(stack.thread) || stack.engine || stack.backward_operator;
      labels_.phase[row] = stack.optimizer                                                      ? Phase::optimizer
                           : backward                                                           ? Phase::backward
                           : stack.partnered != kNoRow || stack.forward || stack.root != kNoRow ? Phase::forward
                                                                                                : Phase::other;
      labels_.phase_rule[row] = LabelRule::stream_order;
      if (stack.layer != kUnknownLayer) set_layer(row, stack.layer, LabelRule::stream_order);
    }
  }

  static constexpr InstanceKey kNothing{INT32_MIN, Phase::unlabelled, 0, 0, kNoString};
  struct Runs {  // of one gpu and thread
    InstanceKey last_model = kNothing, last_other = kNothing;
    std::uint32_t model = 0, other = 0;
  };

  // Runs of records with equal labels on a gpu, in order of launch on each thread; collectives and copies around them
  // have runs of their own.
  void number_instances() {
    std::uint32_t next = 0;
    ThreadId thread{UINT32_MAX};
    std::unordered_map<std::int32_t, Runs> by_device;
    for (std::size_t c = 0; c < stacks_.calls.size(); c++) {
      if (stacks_.calls[c].thread != thread) {
        thread = stacks_.calls[c].thread;
        by_device.clear();
      }
      for (const std::uint32_t row : records_of(c)) {
        Runs& runs = by_device[gpu_.device[row]];
        const InstanceKey key{labels_.iteration[row], labels_.phase[row], labels_.recompute[row], labels_.layer[row],
                              labels_.operation[row]};
        if (labels_.gpu_class[row] == GpuClass::comm) {  // each collective is an execution of its own
          labels_.instance[row] = next++;
          runs.last_other = kNothing;
        } else if (is_copy_around(row)) {
          if (runs.last_other != key) runs.other = next++;
          runs.last_other = key;
          labels_.instance[row] = runs.other;
        } else {
          if (runs.last_model != key) runs.model = next++;
          runs.last_model = key;
          runs.last_other = kNothing;
          labels_.instance[row] = runs.model;
        }
      }
    }
    for (std::size_t i = 0; i < num_records(); i++) {
      if (labels_.launch[i] == kNoRow) labels_.instance[i] = next++;
    }
  }

  void describe_collectives() {
    CollectiveLabels& t = labels_.collectives;
    for (std::uint32_t row = 0; row < num_records(); row++) {
      if (labels_.gpu_class[row] != GpuClass::comm) continue;
      const CallStack* stack = stack_of(row);
      RowId metadata = metadata_of(trace_, row, stack);
      if (const auto by_order = metadata_by_order_.find(row); by_order != metadata_by_order_.end())
        metadata = by_order->second;
      const bool known = metadata != kNoRow;
      const std::uint32_t m = known ? index_of(metadata) : 0;
      const CollectiveTable& said = trace_.collectives;
      t.gpu_row.push_back(row);
      t.group.push_back(known ? said.group[m] : kNoString);
      t.description.push_back(known ? said.description[m] : kNoString);
      t.ranks.push_back(known ? said.ranks[m] : kNoString);
      t.group_size.push_back(known ? said.group_size[m] : kNoNumber);
      t.sequence.push_back(known ? said.sequence[m] : kNoNumber);
      t.bytes.push_back(bytes_of_collective(trace_, metadata));
      t.source.push_back(known ? said.source[m] : kNoNumber);
      t.destination.push_back(known ? said.destination[m] : kNoNumber);
      std::int32_t launch_layer = labels_.layer[row];
      if (const auto at = launch_layers_.find(row); at != launch_layers_.end()) launch_layer = at->second;
      if (stack != nullptr && stack->launch_layer != kUnknownLayer) launch_layer = stack->launch_layer;
      const std::uint32_t block = stack == nullptr ? kNoIndex : modules_->block_of(stack->frame);
      if (block != kNoIndex &&
          (stack->launch_layer == kUnknownLayer || stacks_.frames[block].depth < stack->launch_depth))
        launch_layer = stacks_.frames[block].instance;
      t.launch_layer.push_back(launch_layer);
    }
  }

  const TraceTables& trace_;
  const GpuWorkTable& gpu_;
  const AttributionRules& rules_;
  LaunchLinks links_;
  RangeOrder order_;
  Stacks stacks_;
  std::vector<std::uint32_t> records_begin_, records_;  // gpu records of each call, in order of start
  std::vector<EnginePass> passes_;
  std::optional<ForwardPartners> partners_;
  std::optional<RangeNames> names_;
  std::vector<Phase> phases_;          // of calls
  std::vector<std::uint8_t> repeats_;  // of calls: repeated forward work
  std::optional<ModuleLabels> modules_;
  bool some_work_unplaced_ = false;  // forward work of which repetition does not tell whether it is outside the blocks
  std::unordered_map<std::uint32_t, Partner> idle_partners_;  // by row
  std::unordered_map<std::uint64_t, FeatureSet>
      features_;                              // by names of operator and kernel, which decide the class, too
  const KernelSequence* sequence_ = nullptr;  // that named the forward passes
  std::vector<std::int64_t> call_times_;      // of calls
  std::vector<std::uint32_t> calls_begin_;    // first call of each thread, and one more
  std::vector<Found> next_work_;              // of calls
  std::vector<Partner> partner_labels_;       // by number of the forward operator
  std::vector<std::uint8_t> partner_known_;   // whether the label is there
  std::unordered_map<std::uint32_t, std::int32_t> launch_layers_;
  std::unordered_map<std::uint32_t, RowId> metadata_by_order_;  // of unlinked collectives
  GpuWorkLabels labels_;
};

}  // namespace

GpuWorkLabels attribute_gpu_work(const TraceTables& trace, const AttributionRules& rules, std::string_view shown,
                                 HealthLog& health, unsigned threads) {
  return Attribution(trace, rules).run(shown, health, threads);
}

}  // namespace chopper
