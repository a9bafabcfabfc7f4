// SPDX-License-Identifier: Apache-2.0
// Reads SQLite databases as they are: nothing is written, no lock is taken, and what a damaged one still holds is read.
// A plain file is read where it lies; a compressed one, or bytes without a file, from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/format.h"
#include "model/health.h"

struct sqlite3;
struct sqlite3_stmt;

namespace chopper::sqlite {

/// Whether these are the first bytes of a database.
bool is_database(std::string_view head);

/// A table or a view.
struct Relation {
  std::string name;
  bool is_view = false;
  std::vector<std::string> columns;  ///< empty where its definition cannot be read

  bool has(std::string_view column) const;
};

class Database {
 public:
  /// Opens options.path where that is a plain file, else reads all of the source. Fails with what is wrong and what to
  /// do when the bytes are no database, or when not even its list of tables can be read.
  static Result<Database> open(const SourceOpener& open, std::string_view shown, const ReadOptions& options);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// In order of creation. Virtual tables are left out: their content is not in the file alone.
  std::span<const Relation> relations() const { return relations_; }
  /// Returns the relation of this name, or null.
  const Relation* find(std::string_view name) const;
  /// Size of the database, uncompressed.
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// Reports what was odd about the file, and that its list of tables is incomplete.
  void add_notes(HealthLog& health) const;
  /// Tells `options` that all of the file was read.
  void publish_progress(const ReadOptions& options) const;

 private:
  friend class Scan;
  struct Handle;
  Database();
  std::optional<Error> prepare(std::string_view shown);
  bool list_relations();

  std::unique_ptr<Handle> handle_;
  std::unique_ptr<ByteSource> source_;  // of a database in memory
  std::string bytes_;                   // of a database in memory
  std::string shown_;
  std::string unread_changes_;  // file of changes that are not in the database yet
  std::string damage_;          // of the list of tables
  std::vector<Relation> relations_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t page_bytes_ = 0;  // in a file shorter than that SQLite sees no tables and no error
};

/// A column to read: by its name, or computed by an SQL expression where the column is there.
struct Column {
  std::string_view name;
  std::string_view expression = {};
};

/// What a cell holds.
enum class Cell : std::uint8_t { null, integer, real, text, blob };

/// Reads the rows of a relation in their order. Columns that the relation does not have are null.
class Scan {
 public:
  /// `condition` is SQL, or empty for all rows.
  Scan(const Database& database, const Relation& relation, std::span<const Column> columns,
       std::string_view condition = {});
  ~Scan();
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  /// Goes to the next row. False at the end, and where the rest cannot be read.
  bool next();

  Cell kind(std::size_t column) const;
  /// Returns the whole number in the cell, also one written as text or with a fraction of zero.
  std::optional<std::int64_t> integer(std::size_t column) const;
  /// Returns the number in the cell.
  std::optional<double> real(std::size_t column) const;
  /// Returns the text in the cell, empty where there is none; valid until the next row.
  std::string_view text(std::size_t column) const;

  /// Rows read so far.
  std::uint64_t num_rows() const { return num_rows_; }
  /// Names the current row: "table T, row 17".
  std::string place() const;
  /// Reports rows that could not be read.
  void add_damage(std::string_view shown, HealthLog& health) const;

 private:
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  std::string relation_;
  std::string damage_;
  std::uint64_t num_rows_ = 0;
  bool has_row_numbers_ = false;
};

}  // namespace chopper::sqlite
