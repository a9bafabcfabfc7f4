// SPDX-License-Identifier: Apache-2.0
#include "attribute/sequences.h"

#include <algorithm>
#include <array>

namespace chopper {
namespace {

constexpr std::size_t kNoState = static_cast<std::size_t>(-1);

class Machine {
 public:
  Machine(const KernelSequence& sequence, std::span<const SequenceItem> items, StringTable& operations)
      : sequence_(sequence), items_(items), operations_(operations) {
    result_.labels.resize(items.size());
    find_next_features();
    for (const SequenceState& state : sequence.states) {
      std::vector<StringId>& names = names_.emplace_back();
      names.push_back(operations.intern(state.operation));
      for (const std::vector<std::string>& counted : state.by_count) {
        for (const std::string& name : counted) names.push_back(operations.intern(name));
      }
    }
  }

  SequenceResult run() {
    for (std::size_t i = 0; i < items_.size(); i++) {
      if (i == 0 || items_[i].pass != items_[i - 1].pass) begin_pass();
      step(i);
    }
    leave();
    return std::move(result_);
  }

 private:
  void begin_pass() {
    leave();
    state_ = kNoState;
    layer_ = -1;
  }

  // The names of a state that depend on how many items it took.
  void leave() {
    if (state_ == kNoState) return;
    const SequenceState& state = sequence_.states[state_];
    const std::size_t count = taken_.size();
    if (count > 0 && count <= state.by_count.size()) {
      const std::vector<std::string>& names = state.by_count[count - 1];
      for (std::size_t i = 0; i < count && i < names.size(); i++)
        result_.labels[taken_[i]].operation = operations_.intern(names[i]);
    }
    taken_.clear();
  }

  bool accepts(std::size_t index, std::size_t item) const {
    const SequenceState& state = sequence_.states[index];
    const FeatureSet features = items_[item].features;
    if ((features & state.accepts) == 0 || (features & state.rejects) != 0) return false;
    if (state.followed_by != 0) {
      const bool follows = item + 1 < items_.size() && items_[item + 1].pass == items_[item].pass &&
                           (items_[item + 1].features & state.followed_by) != 0;
      if (!follows) return false;
    }
    if (state.ahead == 0) return true;
    const std::size_t ahead = next_of(state.ahead, item);
    return ahead != kNoState && ahead < next_of(state.before, item);
  }

  void step(std::size_t item) {
    const StringId known = items_[item].operation;
    if (known != kNoString) {
      follow(known, item);
      return;
    }
    if (state_ != kNoState) {
      const SequenceState& state = sequence_.states[state_];
      for (const std::size_t next : state.next) {
        if (sequence_.states[next].followed_by != 0 && accepts(next, item)) return enter(next, item);
      }
      if (static_cast<std::int64_t>(taken_.size()) < state.max && accepts(state_, item)) return take(item);
      for (const std::size_t next : state.next) {
        if (accepts(next, item)) return enter(next, item);
      }
    }
    // Blocks begin where a pass does, or behind a state that leads nowhere; what comes before them (an embedding)
    // begins a pass.
    const bool ended = state_ == kNoState || sequence_.states[state_].next.empty();
    for (std::size_t i = 0; i < sequence_.states.size(); i++) {
      const SequenceState& entry = sequence_.states[i];
      if (entry.entry && (ended || !entry.layer) && accepts(i, item)) return enter(i, item);
    }
  }

  bool is_called(std::size_t index, StringId name) const {
    return std::find(names_[index].begin(), names_[index].end(), name) != names_[index].end();
  }

  // Names given by ranges are kept; the machine goes to the nearest state of that name.
  void follow(StringId known, std::size_t item) {
    if (state_ != kNoState && is_called(state_, known)) return take(item);
    if (state_ != kNoState) {
      for (const std::size_t next : sequence_.states[state_].next) {
        if (is_called(next, known)) return enter(next, item);
      }
    }
    for (std::size_t i = 0; i < names_.size(); i++) {
      if (is_called(i, known)) return enter(i, item);
    }
  }

  void enter(std::size_t index, std::size_t item) {
    leave();
    state_ = index;
    const SequenceState& state = sequence_.states[index];
    if (state.layer) {
      layer_++;
      result_.num_layers++;
    }
    take(item);
  }

  bool outside(std::size_t index) {
    if (outside_.empty()) find_outside();
    return outside_[index] != 0;
  }

  // The repeated block: reachable from a `layer` state and leading back to one.
  void find_outside() {
    const std::size_t n = sequence_.states.size();
    std::vector<std::uint8_t> after(n, 0), leads(n, 0);
    for (std::size_t round = 0; round < n; round++) {
      for (std::size_t i = 0; i < n; i++) {
        if (sequence_.states[i].layer) after[i] = leads[i] = 1;
        for (const std::size_t next : sequence_.states[i].next) {
          if (after[i] != 0) after[next] = 1;
          if (leads[next] != 0) leads[i] = 1;
        }
      }
    }
    outside_.assign(n, 0);
    for (std::size_t i = 0; i < n; i++) outside_[i] = after[i] != 0 && leads[i] != 0 ? 0 : 1;
  }

  void take(std::size_t item) {
    taken_.push_back(item);
    SequenceLabel& label = result_.labels[item];
    label.operation = items_[item].operation != kNoString ? items_[item].operation : names_[state_].front();
    label.layer = outside(state_) || layer_ < 0 ? kOutsideLayers : layer_;
    result_.num_labelled++;
  }

  // For each item the next one, itself included, with each feature; the end where there is none in the pass.
  void find_next_features() {
    next_features_.assign(kNumFeatures, std::vector<std::size_t>());
    for (const SequenceState& state : sequence_.states) needed_ |= state.ahead | state.before;
    for (std::size_t f = 0; f < kNumFeatures; f++) {
      if ((needed_ & FeatureSet{1} << f) == 0) continue;
      std::vector<std::size_t>& next = next_features_[f];
      next.assign(items_.size(), kNoState);
      for (std::size_t i = items_.size(); i-- > 0;) {
        if ((items_[i].features & FeatureSet{1} << f) != 0) {
          next[i] = i;
        } else if (i + 1 < items_.size() && items_[i + 1].pass == items_[i].pass) {
          next[i] = next[i + 1];
        }
      }
    }
  }
  std::size_t next_of(FeatureSet features, std::size_t item) const {
    std::size_t first = kNoState;
    for (std::size_t f = 0; f < kNumFeatures; f++) {
      if ((features & FeatureSet{1} << f) != 0) first = std::min(first, next_features_[f][item]);
    }
    return first;
  }

  const KernelSequence& sequence_;
  std::span<const SequenceItem> items_;
  StringTable& operations_;
  SequenceResult result_;
  std::vector<std::vector<StringId>> names_;  // of the states: the usual one first
  std::vector<std::vector<std::size_t>> next_features_;
  FeatureSet needed_ = 0;
  std::vector<std::uint8_t> outside_;
  std::size_t state_ = kNoState;
  std::vector<std::size_t> taken_;  // items of the present state
  std::int32_t layer_ = -1;
};

std::string lower_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

FeatureSet fused_features(const FeatureRules& rules, std::string_view name) {
  FeatureSet features = bit(Feature::fused);
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const auto word = rules.fused_words.find(name.substr(at, end - at));
    if (word != rules.fused_words.end()) features |= word->second;
    at = end + 1;
  }
  return features;
}

}  // namespace

SequenceResult run_sequence(const KernelSequence& sequence, std::span<const SequenceItem> items,
                            StringTable& operations) {
  return Machine(sequence, items, operations).run();
}

FeatureSet features_of(const FeatureRules& rules, std::string_view operator_name, std::string_view kernel_name,
                       GpuClass gpu_class) {
  if (gpu_class == GpuClass::attention) return bit(Feature::attention);
  FeatureSet by_operator = 0;
  if (operator_name.starts_with("aten::")) {
    const auto at = rules.operators.find(operator_name.substr(6));
    if (at != rules.operators.end()) by_operator = at->second;
  }
  if (gpu_class == GpuClass::gemm) return (by_operator & bit(Feature::bmm)) != 0 ? by_operator : bit(Feature::gemm);
  const FeatureSet vector = bit(Feature::vector);
  if (by_operator != 0) return by_operator | vector;
  if (kernel_name.starts_with("triton_") && kernel_name.find("fused") != std::string_view::npos)
    return fused_features(rules, kernel_name) | vector;
  const std::string lower = lower_of(kernel_name);
  for (const auto& [part, feature] : rules.kernel_parts) {
    if (lower.find(part) != std::string::npos) return feature | vector;
  }
  return vector;
}

}  // namespace chopper
