// SPDX-License-Identifier: Apache-2.0
// Rows of collectives.
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/group_dimension.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

// Bytes that cross the links of one rank for each byte of the message (docs/reference/attribution.md 8).
double traffic_share(std::string_view kind, std::int64_t group_size) {
  const double n = static_cast<double>(group_size);
  if (kind == "ar") return 2 * (n - 1) / n;
  if (kind == "ag" || kind == "rs" || kind == "a2a") return (n - 1) / n;
  return 1;
}

Field<std::int64_t> known_or(std::int64_t value, Reason reason) {
  return value == kNoNumber ? Field<std::int64_t>(reason) : Field<std::int64_t>(value);
}

// Bytes on the links of each rank, or why they are not known.
Field<double> traffic_of(const CollectiveRecord& c, std::string_view kind) {
  if (c.bytes == kNoNumber) return Reason::no_shapes;
  if (c.group_size == kNoNumber || c.group_size < 1) return Reason::no_group;
  return static_cast<double>(c.bytes) * traffic_share(kind, c.group_size);
}

Field<double> theory_of(const GpuSource& source, const Field<double>& traffic, bool on_one_host) {
  if (!traffic.present()) return traffic.reason();
  if (source.spec == nullptr) return Reason::unknown_gpu;
  const double gb_per_s = static_cast<double>(source.spec->num_links) * source.spec->link_gb_per_s;
  if (!on_one_host || gb_per_s <= 0) return Reason::no_links_known;
  return traffic.value() / gb_per_s;
}

// The dimension of each group is found once.
class Dimensions {
 public:
  Dimensions(const GpuSource& source, const GroupDimensionRules& rules, const RunFacts& facts)
      : source_(source), rules_(rules), facts_(facts) {}

  Field<std::string> of(const CollectiveRecord& c) {
    const auto [at, inserted] = known_.try_emplace({c.group, c.description, c.ranks, c.kind, c.group_size});
    if (inserted) {
      const auto& texts = source_.gpu.texts;
      at->second = group_dimension(rules_, facts_, source_.input.facts.world_size,
                                   {texts[c.group], texts[c.description], texts[c.ranks], texts[c.kind], c.group_size});
    }
    return at->second.empty() ? Field<std::string>(Reason::no_group) : Field<std::string>(std::string(at->second));
  }

 private:
  const GpuSource& source_;
  const GroupDimensionRules& rules_;
  const RunFacts& facts_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>, std::string_view>
      known_;
};

}  // namespace

void add_collective_rows(const GpuSource& source, std::span<const MatchedCollective> matched,
                         const GroupDimensionRules& rules, const Selection& selection, Answer& answer) {
  const GpuSummary& gpu = source.gpu;
  Dimensions dimensions(source, rules, answer.facts);
  // Where no sequence number is written, our count within the group.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> counts;
  for (std::size_t i = 0; i < gpu.collectives.size(); i++) {
    const CollectiveRecord& c = gpu.collectives[i];
    const std::string& kind = gpu.texts[c.kind];
    const std::int64_t count = counts[{c.group, c.ranks}]++;
    if (!selection.is_everything()) {
      const Field<std::int64_t> number = c.ordinal < 0 ? Field<std::int64_t>() : iteration_number(gpu, c.ordinal);
      if (!selection.holds_iteration(c.ordinal, number.present() ? number.value() : kNoNumber) ||
          !selection.holds_layer(c.layer) || !selection.holds_phase(c.phase) || !selection.holds_operation(kind)) {
        continue;
      }
    }
    CollectiveRow row;
    set_source(source, row);
    row.start_ns = c.start_ns;
    row.offset = static_cast<std::int64_t>(c.offset);
    row.ordinal = ordinal_field(c.ordinal);
    row.iteration = c.ordinal < 0 ? Field<std::int64_t>(row.ordinal) : iteration_number(gpu, c.ordinal);
    row.phase = to_string(c.phase);
    row.kind = kind;
    row.group = c.group == 0 ? Field<std::string>(Reason::no_group) : Field<std::string>(gpu.texts[c.group]);
    row.dimension = dimensions.of(c);
    row.group_size = known_or(c.group_size, Reason::no_group);
    row.seq = c.sequence != kNoNumber ? Field<std::int64_t>(c.sequence)
              : c.group != 0          ? Field<std::int64_t>(count)
                                      : Field<std::int64_t>(Reason::no_group);
    row.bytes = known_or(c.bytes, Reason::no_shapes);
    row.duration_ns = c.duration_ns;
    row.exposed_ns = c.exposed_ns;
    const Field<double> traffic = traffic_of(c, kind);
    row.theory_ns = theory_of(source, traffic, matched[i].on_one_host);
    if (const std::int64_t transfer = matched[i].transfer_ns; transfer == kNoNumber) {
      row.wait_ns = row.transfer_ns = matched[i].reason;
      row.busbw_gbps = matched[i].reason;
    } else {
      row.transfer_ns = transfer;
      row.wait_ns = c.duration_ns - transfer;
      row.busbw_gbps = !traffic.present() ? Field<double>(traffic.reason())
                       : transfer == 0    ? Field<double>(Reason::zero_length)
                                          : Field<double>(traffic.value() / static_cast<double>(transfer));
    }
    row.stream = known_or(c.stream, Reason::stream_unknown);
    row.layer = layer_field(c.layer);
    row.launch_layer = layer_field(c.launch_layer);
    answer.collectives.push_back(std::move(row));
  }
}

}  // namespace chopper
