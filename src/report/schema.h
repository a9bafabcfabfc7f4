// SPDX-License-Identifier: Apache-2.0
// The JSON contract as a JSON Schema (draft 2020-12), made from the column descriptors of the row types.
// `docs/schema.json` is its output; a test compares them.
#pragma once

#include <string>

namespace chopper {

/// Returns the schema of what write_json writes.
std::string json_schema_text();

}  // namespace chopper
