// SPDX-License-Identifier: Apache-2.0
#include "synth/database_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <system_error>

namespace chopper::synth {

Result<std::unique_ptr<DatabaseFile>> DatabaseFile::create(const std::filesystem::path& path) {
  std::error_code ignored;  // what is not there need not be removed; the rest is said by opening
  std::filesystem::remove(path, ignored);
  std::unique_ptr<DatabaseFile> file(new DatabaseFile(path));
  if (sqlite3_open(path.c_str(), &file->database_) != SQLITE_OK) return file->failed();
  // Nobody reads it before it is complete, and an incomplete one is written anew.
  CHOPPER_TRY([[maybe_unused]] const Done done,
              file->execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN"));
  return file;
}

DatabaseFile::~DatabaseFile() {
  for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

Error DatabaseFile::failed() const {
  const char* reason = database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_);
  return {ErrorCode::unreadable, fmt::format("cannot be written: {}", reason), path_.string(),
          "check the path, its permissions and the space left"};
}

Result<Done> DatabaseFile::execute(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failed();
  return Done{};
}

Result<DatabaseFile::Rows> DatabaseFile::rows(std::string_view table, std::string_view columns) {
  std::string places = "?";
  for (auto more = std::count(columns.begin(), columns.end(), ','); more > 0; more--) places += ", ?";
  const std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, places);
  Rows rows;
  rows.file_ = this;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &rows.statement_, nullptr) != SQLITE_OK) return failed();
  statements_.push_back(rows.statement_);
  return rows;
}

Result<Done> DatabaseFile::Rows::add(std::initializer_list<DatabaseValue> values) {
  int place = 0;
  for (const DatabaseValue& value : values) {
    place++;
    int code = SQLITE_OK;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      code = sqlite3_bind_int64(statement_, place, *whole);
    } else if (const auto* real = std::get_if<double>(&value)) {
      code = sqlite3_bind_double(statement_, place, *real);
    } else {
      // The text is valid until the row is written, below.
      const auto text = std::get<std::string_view>(value);
      code = sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), nullptr);
    }
    if (code != SQLITE_OK) return file_->failed();
  }
  if (sqlite3_step(statement_) != SQLITE_DONE) return file_->failed();
  sqlite3_reset(statement_);
  return Done{};
}

Result<Done> DatabaseFile::finish() { return execute("COMMIT"); }

}  // namespace chopper::synth
