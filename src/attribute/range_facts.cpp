// SPDX-License-Identifier: Apache-2.0
#include "attribute/range_facts.h"

#include <algorithm>
#include <array>

#include "attribute/classes.h"
#include "attribute/partners.h"

namespace chopper {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string lower_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

bool any_prefix(const std::vector<std::string>& prefixes, std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.starts_with(p); });
}
bool any_part(const std::vector<std::string>& parts, std::string_view name) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& p) { return name.find(p) != std::string_view::npos; });
}
bool any_equal(const std::vector<std::string>& words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

// A non-negative number of at most `digits` digits that is the whole text.
std::optional<std::int64_t> whole_number(std::string_view text, std::size_t digits = 9) {
  if (text.empty() || text.size() > digits || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value;
}

// `word`, then at most one of " _#:-<", then digits, then at most ">": the number.
std::optional<std::int64_t> number_behind(std::string_view lower, std::string_view word, std::size_t digits = 9) {
  if (!lower.starts_with(word)) return std::nullopt;
  lower.remove_prefix(word.size());
  if (!lower.empty() && std::string_view(" _#:-<").find(lower.front()) != std::string_view::npos)
    lower.remove_prefix(1);
  if (!lower.empty() && lower.back() == '>') lower.remove_suffix(1);
  return whole_number(lower, digits);
}

// First word of an annotation: "## forward:loss ##" to "forward".
std::string first_word(std::string_view name) {
  while (!name.empty() && (name.front() == '#' || name.front() == ' ')) name.remove_prefix(1);
  return lower_of(name.substr(0, std::min(name.find_first_of(" :#.(["), name.size())));
}

// "epoch.3" is no path of a module: where there are two elements, the first must be a word for blocks.
bool names_blocks(std::string_view parent) {
  for (const std::string_view word : {"h", "encoder", "decoder", "stages"}) {
    if (parent == word) return true;
  }
  for (const std::string_view end : {"layers", "layer", "blocks", "block"}) {
    if (parent.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

std::optional<ModuleName> module_of(std::string_view name) {
  constexpr std::string_view kPrefix = "nn.Module: ";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t bar = name.rfind('_');
  if (bar == std::string_view::npos) return ModuleName{name, -1};
  const std::optional<std::int64_t> instance = whole_number(name.substr(bar + 1));
  if (!instance) return ModuleName{name, -1};
  return ModuleName{name.substr(0, bar), static_cast<std::int32_t>(*instance)};
}

constexpr std::size_t kMarkDigits = 18;  // what an int64 holds in any case

MarkName mark_of(std::string_view name, std::string_view user_mark) {
  if (!user_mark.empty() && name.starts_with(user_mark)) {
    std::size_t at = user_mark.size();
    while (at < name.size() && !is_digit(name[at])) at++;
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) end++;
    return {MarkKind::user, whole_number(name.substr(at, end - at), kMarkDigits).value_or(kNoNumber)};
  }
  constexpr std::string_view kStep = "ProfilerStep#";
  if (name.starts_with(kStep)) {
    const std::optional<std::int64_t> number = whole_number(name.substr(kStep.size()), kMarkDigits);
    if (number) return {MarkKind::profiler_step, *number};
  }
  if (!name.empty() && name.size() < 32 && (name.front() == 'I' || name.front() == 'i')) {
    const std::optional<std::int64_t> number = number_behind(lower_of(name), "iteration", kMarkDigits);
    if (number) return {MarkKind::iteration, *number};
  }
  if (name.starts_with("Optimizer.step#")) return {MarkKind::optimizer, kNoNumber};
  return {};
}

std::string_view module_path_of(std::string_view name) {
  if (!name.empty() && name.back() == ')') {
    const std::size_t open = name.rfind('(');
    if (open != std::string_view::npos) name = name.substr(open + 1, name.size() - open - 2);
  } else if (const std::size_t at = name.rfind(" for "); at != std::string_view::npos) {
    name.remove_prefix(at + 5);
  }
  if (name.find('.') == std::string_view::npos) return {};
  bool begins = true;  // of an element
  for (const char c : name) {
    if (c == '.') {
      if (begins) return {};
      begins = true;
      continue;
    }
    if (!is_letter(c) && !is_digit(c)) return {};
    begins = false;
  }
  return begins || !is_letter(name.front()) ? std::string_view() : name;
}

std::optional<std::int32_t> layer_of_path(std::string_view path) {
  const bool is_short = std::count(path.begin(), path.end(), '.') < 2;
  std::string_view parent = path.substr(0, path.find('.'));
  for (std::size_t at = path.find('.'); at != std::string_view::npos;) {
    const std::size_t end = std::min(path.find('.', at + 1), path.size());
    const std::string_view element = path.substr(at + 1, end - at - 1);
    const std::optional<std::int64_t> number = whole_number(element);
    if (number && (!is_short || names_blocks(parent))) return static_cast<std::int32_t>(*number);
    parent = element;
    at = end == path.size() ? std::string_view::npos : end;
  }
  return std::nullopt;
}

std::optional<std::int32_t> layer_of_annotation(std::string_view name) {
  if (name.size() > 24 || name.size() < 6) return std::nullopt;
  const std::string lower = lower_of(name);
  for (const std::string_view word : {"layer", "block"}) {
    const std::optional<std::int64_t> number = number_behind(lower, word);
    if (number) return static_cast<std::int32_t>(*number);
  }
  return std::nullopt;
}

std::string_view collective_kind(std::string_view name) {
  std::string lower = lower_of(name);
  std::erase_if(lower, [](char c) { return c == '_' || c == ' '; });
  // "all_reduce" before "reduce", "reducescatter" before both of its halves; "allgather" before "gather".
  struct Word {
    std::string_view word, kind;
  };
  constexpr std::array<Word, 14> kWords = {{{"crossdevicereduce", "ar"},
                                            {"reducescatter", "rs"},
                                            {"allgather", "ag"},
                                            {"allreduce", "ar"},
                                            {"alltoall", "a2a"},
                                            {"broadcast", "bc"},
                                            {"barrier", "barrier"},
                                            {"sendrecv", "p2p"},
                                            {"send", "p2p"},
                                            {"recv", "p2p"},
                                            {"batchisend", "p2p"},
                                            {"gather", "gather"},
                                            {"scatter", "scatter"},
                                            {"reduce", "reduce"}}};
  for (const Word& word : kWords) {
    if (lower.find(word.word) != std::string::npos) return word.kind;
  }
  return {};
}

RangeNames::RangeNames(const StringTable& names, const ClassRules& classes, const PhaseRules& phases,
                       const OperationMaps& maps, StringTable& operations)
    : names_(names),
      classes_(classes),
      phases_(phases),
      maps_(maps),
      operations_(operations),
      index_(names.size() * kNumKinds, -1) {}

const RangeFacts& RangeNames::facts(StringId name, RangeKind kind) {
  const std::size_t at = index_of(name) * kNumKinds + static_cast<std::size_t>(kind);
  if (index_[at] < 0) {
    facts_.push_back(compute(names_.view(name), kind));
    index_[at] = static_cast<std::int32_t>(facts_.size()) - 1;
  }
  return facts_[static_cast<std::size_t>(index_[at])];
}

void RangeNames::learn(const HostRangeTable& ranges) {
  for (std::size_t i = 0; i < ranges.name.size(); i++) facts(ranges.name[i], ranges.kind[i]);
}

void RangeNames::read_operation(std::string_view name, RangeFacts& facts) {
  std::string_view bare = name;
  if (bare.starts_with("f_") || bare.starts_with("b_")) {
    if (bare != "b_ga") bare.remove_prefix(2);
  }
  std::string canonical(bare);
  for (const auto& [alias, prefix] : maps_.alias_prefixes) {
    if (canonical.starts_with(alias)) canonical = prefix + canonical.substr(alias.size());
  }
  if (!any_equal(maps_.canonical, canonical)) return;
  facts.operation = operations_.intern(canonical);
  facts.operation_rule = LabelRule::annotation;
  if (name.starts_with("f_")) facts.forward = true;
  if (name.starts_with("b_")) facts.backward = true;
}

RangeFacts RangeNames::compute(std::string_view name, RangeKind kind) {
  RangeFacts facts;
  if (kind == RangeKind::module) {
    const std::optional<ModuleName> module = module_of(name);
    facts.module = module.has_value();
    if (!module) return facts;
    facts.module_class = operations_.intern(module->class_name);
    facts.module_instance = module->instance;
    return facts;
  }
  const MarkKind mark = mark_of(name, {}).kind;
  facts.mark = mark == MarkKind::iteration || mark == MarkKind::profiler_step;
  facts.engine = any_prefix(phases_.engine_prefix, name);
  facts.accumulate = any_part(phases_.accumulate_contains, name);
  facts.custom_function = !custom_function_of(name).empty();
  facts.clip = any_equal(phases_.clip_operators, name);
  facts.copy = is_copy_range(classes_, name);
  facts.param_comms = name == "record_param_comms";
  facts.optimizer =
      any_prefix(phases_.optimizer_prefix, name) || any_part(phases_.optimizer_contains_nocase, lower_of(name));
  facts.forward = any_prefix(phases_.forward_prefix, name);
  facts.backward = any_prefix(phases_.backward_prefix, name);
  facts.optimizer_step = name.starts_with("Optimizer.step#");
  facts.before_node = any_prefix(phases_.before_node_prefix, name);
  facts.prefetch = any_part(phases_.prefetch_contains, name);
  facts.root = any_prefix(phases_.root_prefix, name);
  const bool communicates = name.starts_with("c10d::") || name.starts_with("nccl:") || name.starts_with("gloo:");
  if (communicates) {
    const std::string_view word = collective_kind(name);
    if (!word.empty()) facts.kind = operations_.intern(word);
  }
  if (facts.accumulate) {
    facts.operation = operations_.intern("b_ga");
    facts.operation_rule = LabelRule::engine;
  }
  for (const auto& [prefix, operation] : maps_.ranges) {
    if (!name.starts_with(prefix)) continue;
    facts.operation = operations_.intern(operation);
    facts.operation_rule = facts.optimizer ? LabelRule::optimizer : LabelRule::collective;
  }
  if (kind != RangeKind::annotation && !name.starts_with("FSDP::")) return facts;
  if (kind == RangeKind::annotation) {
    const std::string word = first_word(name);
    facts.optimizer = facts.optimizer || any_equal(phases_.optimizer_words, word);
    if (any_equal(phases_.forward_words, word)) facts.forward = facts.root = true;
    facts.backward = facts.backward || any_equal(phases_.backward_words, word);
    if (const std::optional<std::int32_t> layer = layer_of_annotation(name)) {
      facts.layer = *layer;
      facts.layer_rule = LabelRule::annotation;
    }
    if (facts.operation == kNoString) read_operation(name, facts);
  }
  const std::string_view path = communicates ? std::string_view() : module_path_of(name);
  if (path.empty()) return facts;
  if (facts.layer == kUnknownLayer) {
    if (const std::optional<std::int32_t> layer = layer_of_path(path)) {
      facts.layer = *layer;
      facts.layer_rule = LabelRule::module_path;
    }
  }
  // Ranges of FSDP name the module they serve, not one that computes.
  if (name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel") || facts.operation != kNoString)
    return facts;
  for (const auto& [end, operation] : maps_.paths) {
    const bool ends = path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '.');
    if (!ends) continue;
    facts.operation = operations_.intern(operation);
    facts.operation_rule = LabelRule::module_path;
    break;
  }
  if (facts.operation == kNoString && facts.layer != kUnknownLayer)
    facts.path_end = operations_.intern(path.substr(path.rfind('.') + 1));
  return facts;
}

}  // namespace chopper
