// SPDX-License-Identifier: Apache-2.0
// Writes a SQLite database: tables are made with SQL, rows added through prepared statements. All is one transaction,
// which finish() completes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace chopper::synth {

/// A value of a row; text is copied.
using DatabaseValue = std::variant<std::int64_t, double, std::string_view>;

class DatabaseFile {
 public:
  /// Replaces `path`.
  static Result<std::unique_ptr<DatabaseFile>> create(const std::filesystem::path& path);
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;
  ~DatabaseFile();

  Result<Done> execute(const std::string& sql);

  /// A statement that adds rows of these columns, separated by commas; valid as long as the file.
  class Rows {
   public:
    Result<Done> add(std::initializer_list<DatabaseValue> values);

   private:
    friend class DatabaseFile;
    DatabaseFile* file_ = nullptr;
    sqlite3_stmt* statement_ = nullptr;
  };
  Result<Rows> rows(std::string_view table, std::string_view columns);

  Result<Done> finish();

 private:
  explicit DatabaseFile(std::filesystem::path path) : path_(std::move(path)) {}
  Error failed() const;

  std::filesystem::path path_;
  sqlite3* database_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
};

}  // namespace chopper::synth
