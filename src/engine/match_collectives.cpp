// SPDX-License-Identifier: Apache-2.0
#include "engine/match_collectives.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/string_table.h"

namespace chopper {
namespace {

// Names the collectives of one kind in one iteration of one group. Groups are told apart by their name and their ranks:
// the groups of one dimension may share a name.
struct Key {
  StringId group, ranks, kind;
  std::int64_t group_size = kNoNumber, iteration = 0;
  std::int64_t source = kNoNumber, destination = kNoNumber;  // of a transfer between two ranks
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t h = std::uint64_t{index_of(key.group)} << 32 | index_of(key.ranks);
    for (const std::uint64_t v : {std::uint64_t{index_of(key.kind)}, static_cast<std::uint64_t>(key.group_size),
                                  static_cast<std::uint64_t>(key.iteration), static_cast<std::uint64_t>(key.source),
                                  static_cast<std::uint64_t>(key.destination)}) {
      h = (h ^ h >> 29 ^ v) * 0x9e3779b97f4a7c15ull;
    }
    return h ^ h >> 32;
  }
};

// What all gpus together show of one key.
struct Meeting {
  std::vector<std::int64_t> shortest_ns;  // of the n-th
  std::int64_t num_members = 0;
  std::optional<std::string_view> host;
  std::size_t last_member = SIZE_MAX;
  bool is_consistent = true;  // each member has as many
  bool is_on_one_host = true;
};

class Matcher {
 public:
  Matcher(const std::vector<InputSummary>& inputs, const Job& job, Reason alone)
      : inputs_(inputs), job_(job), alone_(alone) {}

  void run(MatchedCollectives& result) {
    std::size_t member = 0;
    for (const GpuPlace& place : job_.gpus) {
      if (place.is_first_file) member++;
      gather(place, member);
    }
    for (const GpuPlace& place : job_.gpus) answer(place, result[place.input][place.gpu]);
  }

 private:
  const GpuSummary& gpu_of(const GpuPlace& place) const { return inputs_[place.input].gpus[place.gpu]; }

  // Texts of a gpu in the table of all.
  std::vector<StringId> texts_of(const GpuSummary& gpu) {
    std::vector<StringId> ids;
    for (const std::string& text : gpu.texts) ids.push_back(texts_.intern(text));
    return ids;
  }

  std::optional<Key> key_of(const GpuPlace& place, const GpuSummary& gpu, const std::vector<StringId>& texts,
                            const CollectiveRecord& c) const {
    const auto iteration = iteration_key(job_, place, gpu, c.ordinal);
    if (!iteration || (c.group == 0 && c.ranks == 0)) return std::nullopt;
    return Key{texts[c.group], texts[c.ranks], texts[c.kind], c.group_size, *iteration, c.source, c.destination};
  }

  void gather(const GpuPlace& place, std::size_t member) {
    const GpuSummary& gpu = gpu_of(place);
    const std::vector<StringId> texts = texts_of(gpu);
    std::unordered_map<Key, std::vector<std::int64_t>, KeyHash> own;
    for (const CollectiveRecord& c : gpu.collectives) {
      if (const auto key = key_of(place, gpu, texts, c)) own[*key].push_back(c.duration_ns);
    }
    const std::optional<std::string>& host = inputs_[place.input].facts.host;
    for (auto& [key, durations] : own) {  // in any order: minima and counts
      Meeting& meeting = meetings_[key];
      if (meeting.last_member == member) meeting.is_consistent = false;  // two files of one gpu with the same iteration
      meeting.last_member = member;
      meeting.num_members++;
      if (!host || (meeting.host && *meeting.host != *host)) meeting.is_on_one_host = false;
      if (host) meeting.host = *host;
      if (meeting.num_members == 1) {
        meeting.shortest_ns = std::move(durations);
        continue;
      }
      if (meeting.shortest_ns.size() != durations.size()) {
        meeting.is_consistent = false;
        continue;
      }
      for (std::size_t n = 0; n < durations.size(); n++)
        meeting.shortest_ns[n] = std::min(meeting.shortest_ns[n], durations[n]);
    }
  }

  void answer(const GpuPlace& place, std::vector<MatchedCollective>& matched) {
    const GpuSummary& gpu = gpu_of(place);
    const std::vector<StringId> texts = texts_of(gpu);
    std::unordered_map<Key, std::size_t, KeyHash> counts;
    for (std::size_t i = 0; i < gpu.collectives.size(); i++) {
      const CollectiveRecord& c = gpu.collectives[i];
      if (c.group == 0 && c.ranks == 0) {
        matched[i].reason = Reason::no_group;
        continue;
      }
      const auto key = key_of(place, gpu, texts, c);
      if (!key) continue;
      const std::size_t n = counts[*key]++;
      const Meeting& meeting = meetings_.at(*key);
      matched[i].on_one_host = meeting.is_on_one_host && meeting.num_members == c.group_size;
      if (meeting.num_members == 1) {
        matched[i].reason = alone_;
        continue;
      }
      // Transfers between two ranks are told apart by those ranks; where they are not stated, not at all.
      const bool is_transfer = gpu.texts[c.kind] == "p2p";
      const bool is_pair =
          !is_transfer || (c.source != kNoNumber && c.destination != kNoNumber && meeting.num_members == 2);
      const bool fits = c.group_size == kNoNumber || meeting.num_members <= c.group_size;
      if (!meeting.is_consistent || !is_pair || !fits) continue;
      matched[i].transfer_ns = meeting.shortest_ns[n];
    }
  }

  const std::vector<InputSummary>& inputs_;
  const Job& job_;
  Reason alone_;  // of what no other gpu of the job has
  StringTable texts_;
  std::unordered_map<Key, Meeting, KeyHash> meetings_;
};

}  // namespace

MatchedCollectives match_collectives(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs) {
  MatchedCollectives result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const Reason reason = inputs[i].facts.rank ? Reason::unmatched_ranks : Reason::rank_unknown;
    for (const GpuSummary& gpu : inputs[i].gpus)
      result[i].emplace_back(gpu.collectives.size(), MatchedCollective{kNoNumber, reason, false});
  }
  for (const Job& job : jobs) {
    // Another input may be of the same job, and only the rank is missing.
    const bool may_have_others = !job.has_ranks && jobs.size() > 1;
    Matcher(inputs, job, may_have_others ? Reason::rank_unknown : Reason::single_rank).run(result);
  }
  return result;
}

}  // namespace chopper
