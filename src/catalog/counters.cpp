// SPDX-License-Identifier: Apache-2.0
#include "catalog/counters.h"

#include <toml++/toml.h>

#include <algorithm>

#include "catalog/embedded_data.h"
#include "catalog/toml_fields.h"

namespace chopper {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// What a file states for all of its tables.
struct FileDefaults {
  std::string vendor, source;
  std::vector<std::string> architectures;
};

std::vector<std::string> architectures_of(const toml::table& table, const FileDefaults& defaults) {
  std::vector<std::string> names = text_list(table, "architectures");
  if (names.empty()) names = defaults.architectures;
  if (names.empty()) throw BadField{"missing list architectures", line_of(table)};
  return names;
}

std::string vendor_of(const toml::table& table, const FileDefaults& defaults,
                      const std::vector<std::string>& architectures) {
  std::string vendor = optional_text(table, "vendor", defaults.vendor);
  if (vendor.empty()) vendor = vendor_of_architecture(architectures.front());
  if (vendor != "amd" && vendor != "nvidia")
    throw BadField{"vendor is neither amd nor nvidia: " + vendor, line_of(table)};
  return vendor;
}

CounterSpec read_counter(const toml::table& table, const FileDefaults& defaults) {
  refuse_unknown_keys(table,
                      {"name", "vendor", "architectures", "block", "unit", "reduction", "labels", "summary", "source"});
  CounterSpec counter;
  counter.name = needed_text(table, "name");
  counter.architectures = architectures_of(table, defaults);
  counter.vendor = vendor_of(table, defaults, counter.architectures);
  counter.block = optional_text(table, "block");
  counter.unit_text = needed_text(table, "unit");
  const Result<Unit> unit = parse_unit(counter.unit_text);
  if (!unit.ok()) throw BadField{unit.error().message + ": " + unit.error().hint, line_of(table)};
  counter.unit = unit.value();
  const std::string reduction = optional_text(table, "reduction", "instances");
  if (reduction != "instances" && reduction != "value")
    throw BadField{"reduction is neither instances nor value: " + reduction, line_of(table)};
  counter.has_instances = reduction == "instances";
  counter.labels = text_list(table, "labels");
  counter.summary = optional_text(table, "summary");
  counter.source = optional_text(table, "source", defaults.source);
  return counter;
}

BlockSpec read_block(const toml::table& table, const FileDefaults& defaults) {
  refuse_unknown_keys(table, {"name", "vendor", "architectures", "limit", "instances_per_xcc"});
  BlockSpec block;
  block.name = needed_text(table, "name");
  block.architectures = architectures_of(table, defaults);
  block.vendor = vendor_of(table, defaults, block.architectures);
  block.limit = whole_field(table, "limit", 1, 0);
  if (block.limit == 0) throw BadField{"missing whole number limit", line_of(table)};
  block.instances_per_xcc = whole_field(table, "instances_per_xcc", 1, 0);
  return block;
}

void read_file(const toml::table& root, CounterCatalog& catalog) {
  const FileDefaults defaults = {optional_text(root, "vendor"), optional_text(root, "source"),
                                 text_list(root, "architectures")};
  for (const std::string& name : defaults.architectures)
    if (!contains(catalog.architectures, name)) catalog.architectures.push_back(name);
  if (const std::string check = optional_text(root, "check_counter"); !check.empty())
    catalog.check_counters.push_back(check);
  for (const toml::table* table : tables_of(root, "block")) catalog.blocks.push_back(read_block(*table, defaults));
  const auto first_of_file = static_cast<std::ptrdiff_t>(catalog.counters.size());
  for (const toml::table* table : tables_of(root, "counter")) {
    CounterSpec counter = read_counter(*table, defaults);
    const bool again =
        std::any_of(catalog.counters.begin() + first_of_file, catalog.counters.end(), [&](const CounterSpec& other) {
          return other.name == counter.name &&
                 std::any_of(counter.architectures.begin(), counter.architectures.end(),
                             [&](const std::string& name) { return contains(other.architectures, name); });
        });
    if (again) throw BadField{"counter is defined twice: " + counter.name, line_of(*table)};
    catalog.counters.push_back(std::move(counter));
  }
}

}  // namespace

std::string_view vendor_of_architecture(std::string_view architecture) {
  if (architecture.starts_with("gfx")) return "amd";
  return architecture.starts_with("sm_") ? "nvidia" : "";
}

const CounterSpec* CounterCatalog::find(std::string_view name, std::string_view architecture) const {
  for (const CounterSpec& counter : counters)
    if (counter.name == name && contains(counter.architectures, architecture)) return &counter;
  return nullptr;
}

const BlockSpec* CounterCatalog::find_block(std::string_view name, std::string_view architecture) const {
  for (const BlockSpec& block : blocks)
    if (block.name == name && contains(block.architectures, architecture)) return &block;
  return nullptr;
}

Result<Done> add_counters(CounterCatalog& catalog, std::string_view toml, std::string_view file) {
  const auto bad = [&](const std::string& message, std::size_t line) {
    return Error{ErrorCode::bad_input, message, place_of(file, line), "data/counters/amd.toml explains the form"};
  };
  try {
    CounterCatalog extended = catalog;
    read_file(toml::parse(toml), extended);
    catalog = std::move(extended);
    return Done{};
  } catch (const toml::parse_error& error) {
    return bad(std::string(error.description()), error.source().begin.line);
  } catch (const BadField& problem) {
    return bad(problem.message, problem.line);
  }
}

Result<Done> add_embedded_counters(CounterCatalog& catalog) {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    const std::string_view name = kEmbeddedFiles[i].name;
    if (!name.starts_with("counters/") || !name.ends_with(".toml")) continue;
    CHOPPER_TRY([[maybe_unused]] const Done done, add_counters(catalog, kEmbeddedFiles[i].text, name));
  }
  return Done{};
}

}  // namespace chopper
