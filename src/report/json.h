// SPDX-License-Identifier: Apache-2.0
// Writes an answer as JSON (spec 11): one object of arrays of flat rows, one row a line.
//   "gpus":[
//   {"input":0,"rank":null,"gpu":0,...,"unavailable":{"rank":"rank_unknown"}}
//   ],
#pragma once

#include <string>
#include <string_view>

#include "engine/engine.h"
#include "report/text_sink.h"

namespace chopper {

/// The version of the JSON contract; raised when a key changes its meaning or goes away.
inline constexpr int kJsonSchema = 1;

struct JsonOptions {
  std::string_view version;   ///< of Chopper
  bool with_kernels = false;  ///< add the tables `kernels` and `copies`
};

/// Streams `answer` to `sink`. Returns whether the sink took everything.
bool write_json(const Answer& answer, const JsonOptions& options, const TextSink& sink);

/// Appends `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Appends the shortest decimal that reads back as `value`, which is finite; whole numbers keep a ".0".
void append_json_number(std::string& out, double value);

}  // namespace chopper
