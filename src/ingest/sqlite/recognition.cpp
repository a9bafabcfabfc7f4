// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/recognition.h"

#include <algorithm>

#include "ingest/sqlite/database.h"

namespace chopper::sqlite {

Confidence sniff_tables(std::string_view head, std::span<const std::string_view> words) {
  if (!is_database(head)) return Confidence::no;
  const bool found = std::any_of(words.begin(), words.end(),
                                 [&](std::string_view word) { return head.find(word) != std::string_view::npos; });
  return found ? Confidence::yes : Confidence::maybe;
}

Result<Confidence> look_at_tables(const SourceOpener& open, std::string_view shown, const ReadOptions& options,
                                  std::span<const std::string_view> words) {
  CHOPPER_TRY(const Database database, Database::open(open, shown, options));
  for (const Relation& relation : database.relations()) {
    for (const std::string_view word : words) {
      if (relation.name.starts_with(word)) return Confidence::yes;
    }
  }
  return Confidence::no;
}

}  // namespace chopper::sqlite
