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

// A collective as one gpu, or as several, saw it.
struct Seen {
  std::int64_t sequence = kNoNumber, duration_ns = 0;  // of several the shortest
};
bool by_sequence(const Seen& a, const Seen& b) { return a.sequence < b.sequence; }

// What all gpus together show of one key.
struct Meeting {
  std::vector<std::int64_t> shortest_ns;  // of the n-th
  std::vector<Seen> numbered;             // those that each member shows, by the number the group gave them
  std::int64_t num_members = 0;
  std::optional<std::string_view> host;
  std::size_t last_member = SIZE_MAX;
  bool is_consistent = true;    // each member has as many
  bool is_numbered = true;      // each member tells its own apart by their numbers
  bool shares_numbers = false;  // else each counts on its own
  bool is_on_one_host = true;

  // The shortest duration of a collective over all members, the n-th of its gpu; kNoNumber: not all have it.
  std::int64_t shortest_of(std::size_t n, std::int64_t sequence) const {
    if (!is_numbered || !shares_numbers) return is_consistent ? shortest_ns[n] : kNoNumber;
    const auto at = std::lower_bound(numbered.begin(), numbered.end(), Seen{sequence, 0}, by_sequence);
    return at != numbered.end() && at->sequence == sequence ? at->duration_ns : kNoNumber;
  }
};

// The collectives of one gpu by their numbers; none where one is missing or there twice: collectives that are launched
// as one share it.
std::vector<Seen> sort_by_sequence(std::vector<Seen> own) {
  std::sort(own.begin(), own.end(), by_sequence);
  const bool distinct = std::adjacent_find(own.begin(), own.end(), [](const Seen& a, const Seen& b) {
                          return a.sequence == b.sequence;
                        }) == own.end();
  const bool all_stated = std::none_of(own.begin(), own.end(), [](const Seen& c) { return c.sequence == kNoNumber; });
  return distinct && all_stated ? std::move(own) : std::vector<Seen>();
}

// Keeps of `all` what `own` has too, with the shorter duration. Both are sorted.
void intersect(std::vector<Seen>& all, const std::vector<Seen>& own) {
  auto kept = all.begin();
  auto at = own.begin();
  for (const Seen& seen : all) {
    while (at != own.end() && at->sequence < seen.sequence) ++at;
    if (at == own.end() || at->sequence != seen.sequence) continue;
    *kept++ = {seen.sequence, std::min(seen.duration_ns, at->duration_ns)};
  }
  all.erase(kept, all.end());
}

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

  static bool is_transfer(const GpuSummary& gpu, const CollectiveRecord& c) { return gpu.texts[c.kind] == "p2p"; }

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
    std::unordered_map<Key, std::vector<Seen>, KeyHash> own;
    for (const CollectiveRecord& c : gpu.collectives) {
      // Transfers between two ranks are counted by each rank, not by the group.
      const std::int64_t sequence = is_transfer(gpu, c) ? kNoNumber : c.sequence;
      if (const auto key = key_of(place, gpu, texts, c)) own[*key].push_back({sequence, c.duration_ns});
    }
    const std::optional<std::string>& host = inputs_[place.input].facts.host;
    for (auto& [key, seen] : own) {  // in any order: minima and counts
      Meeting& meeting = meetings_[key];
      const bool again = meeting.last_member == member;  // two files of one gpu with the same iteration
      if (again) meeting.is_consistent = false;
      meeting.last_member = member;
      meeting.num_members++;
      if (!host || (meeting.host && *meeting.host != *host)) meeting.is_on_one_host = false;
      if (host) meeting.host = *host;
      if (meeting.num_members == 1) {
        for (const Seen& c : seen) meeting.shortest_ns.push_back(c.duration_ns);
        meeting.numbered = sort_by_sequence(std::move(seen));
        meeting.is_numbered = !meeting.numbered.empty();
        continue;
      }
      meeting.is_consistent = meeting.is_consistent && meeting.shortest_ns.size() == seen.size();
      for (std::size_t n = 0; meeting.is_consistent && n < seen.size(); n++)
        meeting.shortest_ns[n] = std::min(meeting.shortest_ns[n], seen[n].duration_ns);
      if (!meeting.is_numbered) continue;
      const std::vector<Seen> numbered = sort_by_sequence(std::move(seen));
      meeting.is_numbered = !again && !numbered.empty();
      intersect(meeting.numbered, numbered);
      meeting.shares_numbers = meeting.shares_numbers || !meeting.numbered.empty();
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
      const bool is_pair =
          !is_transfer(gpu, c) || (c.source != kNoNumber && c.destination != kNoNumber && meeting.num_members == 2);
      const bool fits = c.group_size == kNoNumber || meeting.num_members <= c.group_size;
      if (is_pair && fits) matched[i].transfer_ns = meeting.shortest_of(n, c.sequence);
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
