// SPDX-License-Identifier: Apache-2.0
#include "engine/rules.h"

#include <fstream>
#include <iterator>

namespace chopper {
namespace {

Result<Done> add_file(OperationMaps& maps, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, "cannot read the operations", path.string(), "check --operations"};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<Done> added = add_operation_map(maps, text, path.string());
  if (!added.ok()) {
    Error error = added.error();
    error.where = path.string();
    return error;
  }
  return Done{};
}

}  // namespace

Result<std::shared_ptr<const AttributionRules>> load_rules(const RunOptions& options) {
  auto rules = std::make_shared<AttributionRules>();
  CHOPPER_TRY(rules->classes, embedded_class_rules());
  CHOPPER_TRY(rules->phases, embedded_phase_rules());
  CHOPPER_TRY(rules->groups, embedded_group_dimension_rules());
  for (const std::filesystem::path& path : options.operation_files) {
    CHOPPER_TRY(const Done done, add_file(rules->operations, path));
    static_cast<void>(done);
  }
  CHOPPER_TRY(const Done done, add_embedded_operation_maps(rules->operations));
  static_cast<void>(done);
  rules->iteration_mark = options.iteration_mark;
  return std::shared_ptr<const AttributionRules>(std::move(rules));
}

}  // namespace chopper
