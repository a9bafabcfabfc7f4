// SPDX-License-Identifier: Apache-2.0
// Writes an answer as one HTML file that needs nothing else: the page of viewer/ with the JSON of the report inside.
//   <script type="application/json" id="page-facts">{"run":"fsdp2-b2s4","left_out":[]}</script>
//   <script type="application/json" id="report">{"chopper":...}</script>
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "report/text_sink.h"

namespace chopper {

struct HtmlOptions {
  std::string_view version;   ///< of Chopper
  std::string_view run_name;  ///< title of the page
};

/// Returns whether this build has the page.
bool has_html_page();

/// Streams the page to `sink`. Returns whether the sink took everything. Needs has_html_page().
bool write_html(const Answer& answer, const HtmlOptions& options, const TextSink& sink);

/// Makes JSON text safe inside an HTML script element: no "<" is left, and no U+2028 or U+2029. All of them can stand
/// in strings only, where JSON allows an escape instead. Takes text in pieces, which may cut a character.
class ScriptEscaper {
 public:
  /// Appends `piece`, escaped, to `out`.
  void append(std::string& out, std::string_view piece);
  /// Appends what was held back at the end of the last piece.
  void finish(std::string& out);

 private:
  std::string held_;  // the beginning of what may become U+2028 or U+2029
};

/// A table of which the page holds a part.
struct LeftOutRows {
  std::string_view table;
  std::size_t num_rows = 0, num_embedded = 0;
  std::string rule;  ///< which rows the page holds
};

/// The tables of `answer` cut down to what a browser opens at once, and what was left out of them. Runs of usual size
/// are kept whole.
struct PageTables {
  Answer answer;  ///< tables only
  std::vector<LeftOutRows> left_out;
};
PageTables page_tables(const Answer& answer);

}  // namespace chopper
