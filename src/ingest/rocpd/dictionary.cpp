// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocpd/dictionary.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace chopper::rocpd {
namespace {

using sqlite::Column;
using sqlite::Database;
using sqlite::Relation;
using sqlite::Scan;

// Ids of writers are of hexadecimal digits: "rocpd_event_operation_..." is not a table of rocpd_event.
bool is_suffix(std::string_view text) {
  return text.size() > 1 && text[0] == '_' &&
         text.find_first_not_of("0123456789abcdefABCDEF_") == std::string_view::npos;
}

class DictionaryReader {
 public:
  DictionaryReader(const Database& database, std::string_view shown, CounterPass& pass, HealthLog& health)
      : database_(database), shown_(shown), pass_(pass), health_(health) {}

  Dictionary read(std::uint64_t& num_records) {
    read_names();
    read_numbers();
    read_kernels();
    read_nodes();
    read_agents(num_records);
    return std::move(dictionary_);
  }

 private:
  template <class Row>
  void rows(std::string_view base, std::span<const Column> columns, const Row& row) {
    for_each_row(database_, shown_, health_, dictionary_, find_tables(database_, base), columns, row);
  }

  void read_names() {
    constexpr Column kString[] = {{"guid"}, {"id"}, {"string"}};
    rows("rocpd_string", kString, [&](const Scan& scan, std::uint32_t guid) {
      if (const auto id = scan.integer(1)) dictionary_.strings.try_emplace({guid, *id}, scan.text(2));
    });
    constexpr Column kCounter[] = {{"guid"}, {"id"}, {"name"}, {"symbol"}};
    rows("rocpd_info_pmc", kCounter, [&](const Scan& scan, std::uint32_t guid) {
      const std::string_view name = scan.text(2).empty() ? scan.text(3) : scan.text(2);
      const auto id = scan.integer(1);
      if (id && !name.empty()) dictionary_.counters.try_emplace({guid, *id}, name);
    });
  }

  void read_numbers() {
    for (const auto& [table, column, numbers] : {std::tuple{"rocpd_info_process", "pid", &dictionary_.processes},
                                                 std::tuple{"rocpd_info_thread", "tid", &dictionary_.threads}}) {
      const Column columns[] = {{"guid"}, {"id"}, {column}};
      rows(table, columns, [&, numbers = numbers](const Scan& scan, std::uint32_t guid) {
        const auto id = scan.integer(1), number = scan.integer(2);
        if (id && number) numbers->try_emplace({guid, *id}, *number);
      });
    }
  }

  void read_kernels() {
    constexpr Column kColumns[] = {
        {"guid"}, {"id"}, {"display_name"}, {"kernel_name"}, {"arch_vgpr_count"}, {"accum_vgpr_count"}, {"sgpr_count"}};
    rows("rocpd_info_kernel_symbol", kColumns, [&](const Scan& scan, std::uint32_t guid) {
      const auto id = scan.integer(1);
      if (!id) return;
      KernelSymbol& symbol = dictionary_.kernels[{guid, *id}];
      symbol.name = scan.text(2).empty() ? scan.text(3) : scan.text(2);
      symbol.num_vgpr = scan.integer(4).value_or(kNoNumber);
      symbol.num_accum_vgpr = scan.integer(5).value_or(kNoNumber);
      symbol.num_sgpr = scan.integer(6).value_or(kNoNumber);
    });
  }

  void read_nodes() {
    constexpr Column kColumns[] = {{"guid"}, {"id"}, {"hostname"}, {"machine_id"}};
    rows("rocpd_info_node", kColumns, [&](const Scan& scan, std::uint32_t guid) {
      const auto id = scan.integer(1);
      const std::string name(scan.text(2).empty() ? scan.text(3) : scan.text(2));
      if (!id || name.empty()) return;
      hosts_.try_emplace({guid, *id}, name);
      host_names_.insert(name);
      if (!dictionary_.host) dictionary_.host = name;
    });
    if (host_names_.size() > 1) dictionary_.host.reset();
  }

  void read_agents(std::uint64_t& num_records) {
    // The profiler writes all it knows of an agent as JSON, by the names of its C structure.
    const auto fact = [](const char* expression) { return Column{"extdata", expression}; };
    const std::array<Column, 18> columns = {
        {{"guid"},
         {"id"},
         {"nid"},
         {"type"},
         {"absolute_index"},
         {"logical_index"},
         {"type_index"},
         {"name"},
         {"product_name"},
         {"vendor_name"},
         {"model_name"},
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.num_xcc') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.cu_count') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.simd_count') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.wave_front_size') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.max_engine_clk_fcompute') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.domain') END"),
         fact("CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.location_id') END")}};
    std::set<std::pair<std::string, std::int64_t>> seen;
    rows("rocpd_info_agent", columns, [&](const Scan& scan, std::uint32_t guid) {
      const std::uint64_t offset = num_records++;
      AgentFacts agent;
      agent.offset = offset;
      const auto id = scan.integer(1), node = scan.integer(4);
      if (!id || !node) {
        health_.add(HealthKind::unreadable_value, std::string(shown_) + ", " + scan.place(),
                    "an agent without id or absolute_index");
        return;
      }
      agent.node = *node;
      agent.visible_index = scan.integer(5).value_or(kNoNumber);
      agent.type_index = scan.integer(6).value_or(kNoNumber);
      agent.is_gpu = scan.text(3) == "GPU";
      agent.architecture = scan.text(7);
      agent.product = scan.text(8).empty() ? scan.text(10) : scan.text(8);
      agent.vendor_name = scan.text(9);
      // Zero is what the writer puts where an agent has none of it; places may be zero.
      for (const auto& [column, number, zero_is_none] :
           {std::tuple{11u, &agent.num_xcc, true}, std::tuple{12u, &agent.num_cu, true},
            std::tuple{13u, &agent.num_simd, true}, std::tuple{14u, &agent.wave_size, true},
            std::tuple{15u, &agent.max_clock_mhz, true}, std::tuple{16u, &agent.pci_domain, false},
            std::tuple{17u, &agent.pci_location, false}}) {
        *number = scan.integer(column).value_or(kNoNumber);
        if (zero_is_none && *number == 0) *number = kNoNumber;
      }
      // Nodes are numbered on each machine by itself.
      std::string host;
      const auto machine = hosts_.find({guid, scan.integer(2).value_or(kNoNumber)});
      if (host_names_.size() > 1 && machine != hosts_.end()) host = machine->second + ":";
      dictionary_.agents.try_emplace({guid, *id}, host + std::to_string(*node));
      // Processes of one machine see the same agents.
      if (seen.emplace(host, *node).second) pass_.agents.push_back(std::move(agent));
    });
  }

  const Database& database_;
  std::string_view shown_;
  CounterPass& pass_;
  HealthLog& health_;
  Dictionary dictionary_;
  Map<std::string> hosts_;
  std::set<std::string> host_names_;
};

}  // namespace

TableSet find_tables(const Database& database, std::string_view base) {
  TableSet tables;
  const Relation* plain = nullptr;
  for (const Relation& relation : database.relations()) {
    const std::string_view name = relation.name;
    if (!name.starts_with(base)) continue;
    const std::string_view suffix = name.substr(base.size());
    if (suffix.empty()) {
      plain = &relation;
    } else if (!relation.is_view && is_suffix(suffix)) {
      tables.members.push_back({&relation, std::string(suffix)});
    }
  }
  // The view of the plain name selects from one of the tables.
  if (tables.members.empty() && plain != nullptr) tables.members.push_back({plain, {}});
  return tables;
}

std::uint32_t Dictionary::guid(std::string_view text, std::string_view suffix) {
  if (text.empty()) text = suffix;
  if (last_ < guids.size() && guids[last_] == text) return last_;
  const auto found = std::find(guids.begin(), guids.end(), text);
  last_ = static_cast<std::uint32_t>(found - guids.begin());
  if (found == guids.end()) guids.emplace_back(text);
  return last_;
}

void for_each_row(const Database& database, std::string_view shown, HealthLog& health, Dictionary& dictionary,
                  const TableSet& tables, std::span<const Column> columns,
                  const std::function<void(const Scan&, std::uint32_t guid)>& row, std::string_view condition) {
  for (const TableSet::Member& member : tables.members) {
    Scan scan(database, *member.relation, columns, condition);
    while (scan.next()) row(scan, dictionary.guid(scan.text(0), member.suffix));
    scan.add_damage(shown, health);
  }
}

Dictionary read_dictionary(const Database& database, std::string_view shown, CounterPass& pass, HealthLog& health,
                           std::uint64_t& num_records) {
  return DictionaryReader(database, shown, pass, health).read(num_records);
}

}  // namespace chopper::rocpd
