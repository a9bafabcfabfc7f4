// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/decimal.h"
#include "ingest/source_notes.h"

namespace chopper::sqlite {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
// Bytes of the header up to the size of a page.
constexpr std::size_t kHeadBytes = 18;
// No cell of a profiler is near it; damage can make any length of one.
constexpr int kMaxCellBytes = 64 << 20;
// Steps of the virtual machine between two looks at the budget.
constexpr int kStepsBetweenLooks = 10'000;
// A scan takes about one step a column and every column takes a byte, so that a few scans of each table stay far below
// 64 steps a byte. Pages that point to each other, or a view without an end, would never end without a limit.
constexpr std::int64_t kStepsPerByte = 64;
constexpr std::int64_t kMinSteps = 1'000'000;

std::string uri_of(const std::filesystem::path& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  // Immutable: nobody else's locks and journals matter, and none are made.
  return uri + "?mode=ro&immutable=1";
}

std::string as_identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

// Size of a page as the header states it, big-endian; the largest one does not fit.
std::uint64_t page_size_in(std::string_view head) {
  if (head.size() < kHeadBytes) return kHeadBytes;
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(head[at])}; };
  const std::uint64_t size = byte(16) << 8 | byte(17);
  return size == 1 ? 65536 : size;
}

Error no_database(std::string_view shown) {
  return {ErrorCode::bad_input, "no SQLite 3 database: the file does not begin as one", std::string(shown),
          "export or copy the file again"};
}

}  // namespace

bool is_database(std::string_view head) { return head.starts_with(kMagic); }

bool Relation::has(std::string_view column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

struct Database::Handle {
  sqlite3* database = nullptr;
  std::int64_t steps_left = 0;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { sqlite3_close(database); }

  static int look(void* self) {
    std::int64_t& left = static_cast<Handle*>(self)->steps_left;
    left -= kStepsBetweenLooks;
    return left < 0 ? 1 : 0;
  }
};

Database::Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() { handle_.reset(); }  // before the bytes it reads

Result<Database> Database::open(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  Database database;
  database.shown_ = shown;
  database.handle_ = std::make_unique<Handle>();
  sqlite3*& handle = database.handle_->database;
  std::string head(kHeadBytes, '\0');
  if (!options.path.empty()) {
    std::ifstream file(options.path, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
  }
  int code = SQLITE_OK;
  if (is_database(head)) {
    std::error_code error;
    database.size_bytes_ = std::filesystem::file_size(options.path, error);
    database.page_bytes_ = page_size_in(head);
    for (const char* ending : {"-wal", "-journal"}) {
      const std::filesystem::path changes = options.path.string() + ending;
      if (std::filesystem::file_size(changes, error) > 0 && !error) database.unread_changes_ = changes.filename();
    }
    code = sqlite3_open_v2(uri_of(options.path).c_str(), &handle,
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  } else {
    CHOPPER_TRY(database.source_, open());
    std::string& bytes = database.bytes_;
    bytes.resize(kMagic.size());
    for (std::size_t size = 0;;) {
      CHOPPER_TRY(const std::size_t got, database.source_->read(std::span<char>(bytes).subspan(size)));
      size += got;
      const bool ended = size < bytes.size();
      if (ended || size == kMagic.size()) bytes.resize(size);
      if (!is_database(bytes)) return no_database(shown);
      if (ended) break;
      bytes.resize(size * 2);
    }
    database.size_bytes_ = bytes.size();
    database.page_bytes_ = page_size_in(bytes);
    // There is no write-ahead log beside bytes in memory, and SQLite opens none that asks for one.
    for (const std::size_t at : {18u, 19u}) {
      if (at < bytes.size() && bytes[at] == 2) bytes[at] = 1;
    }
    code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code == SQLITE_OK) {
      const auto size = static_cast<sqlite3_int64>(bytes.size());
      code = sqlite3_deserialize(handle, "main", reinterpret_cast<unsigned char*>(bytes.data()), size, size,
                                 SQLITE_DESERIALIZE_READONLY);
    }
  }
  if (code != SQLITE_OK)
    return Error{ErrorCode::unreadable, std::string("cannot open the database: ") + sqlite3_errstr(code),
                 std::string(shown), "check the permissions (ls -l)"};
  if (auto error = database.prepare(shown)) return std::move(*error);
  return database;
}

std::optional<Error> Database::prepare(std::string_view shown) {
  sqlite3* const database = handle_->database;
  // Reads a file that is shorter than it says, and goes on behind definitions that cannot be understood.
  sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  // Definitions in the file call nothing that could do harm.
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxCellBytes);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
  handle_->steps_left = kMinSteps + kStepsPerByte * static_cast<std::int64_t>(
                                                        std::min<std::uint64_t>(size_bytes_, std::uint64_t{1} << 50));
  sqlite3_progress_handler(database, kStepsBetweenLooks, Handle::look, handle_.get());
  if (size_bytes_ < page_bytes_) damage_ = "the file ends inside of its first page";
  if (!damage_.empty() || !list_relations()) {
    return Error{ErrorCode::bad_input, "the list of tables of the database cannot be read: " + damage_,
                 std::string(shown),
                 "copy the file again, or export it again: without this list nothing in it can be told apart"};
  }
  return std::nullopt;
}

// Returns whether there is a list at all.
bool Database::list_relations() {
  sqlite3* const database = handle_->database;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(
      database, "SELECT name, type FROM sqlite_master WHERE type='view' OR type='table' AND rootpage>0 ORDER BY rowid",
      -1, &statement, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW) break;
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    const auto* type = reinterpret_cast<const char*>(sqlite3_column_text(statement, 1));
    if (name == nullptr || type == nullptr) continue;
    relations_.push_back({std::string(name, static_cast<std::size_t>(sqlite3_column_bytes(statement, 0))),
                          std::string_view(type) == "view",
                          {}});
  }
  if (code != SQLITE_DONE) damage_ = sqlite3_errmsg(database);
  sqlite3_finalize(statement);
  for (Relation& relation : relations_) {
    const std::string query = "SELECT * FROM " + as_identifier(relation.name) + " LIMIT 0";
    statement = nullptr;
    if (sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) != SQLITE_OK) continue;
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      const char* name = sqlite3_column_name(statement, i);
      relation.columns.emplace_back(name == nullptr ? "" : name);
    }
    sqlite3_finalize(statement);
  }
  return damage_.empty() || !relations_.empty();
}

const Relation* Database::find(std::string_view name) const {
  const auto found =
      std::find_if(relations_.begin(), relations_.end(), [&](const Relation& r) { return r.name == name; });
  return found == relations_.end() ? nullptr : &*found;
}

void Database::add_notes(HealthLog& health) const {
  if (source_ != nullptr) add_source_notes(*source_, shown_, health);
  if (!damage_.empty()) health.add(HealthKind::damaged_table, shown_, "the list of tables: " + damage_);
  if (!unread_changes_.empty()) {
    health.add(HealthKind::truncated, shown_,
               "changes in " + unread_changes_ +
                   " are not read: close the program that writes the file, or run: sqlite3 FILE .tables");
  }
}

void Database::publish_progress(const ReadOptions& options) const {
  if (options.bytes_done == nullptr) return;
  options.bytes_done->fetch_add(source_ != nullptr ? source_->file_bytes_read() : size_bytes_,
                                std::memory_order_relaxed);
}

Scan::Scan(const Database& database, const Relation& relation, std::span<const Column> columns,
           std::string_view condition)
    : database_(database.handle_->database), relation_(relation.name) {
  std::string list;
  for (const Column& column : columns) {
    list += ", ";
    if (!relation.has(column.name)) {
      list += "NULL";
    } else {
      list += column.expression.empty() ? as_identifier(column.name) : std::string(column.expression);
    }
  }
  const std::string rest = list + " FROM " + as_identifier(relation.name) +
                           (condition.empty() ? std::string() : " WHERE " + std::string(condition));
  // Views and tables made without row numbers have none.
  has_row_numbers_ = !relation.is_view && sqlite3_prepare_v2(database_, ("SELECT rowid" + rest).c_str(), -1,
                                                             &statement_, nullptr) == SQLITE_OK;
  if (!has_row_numbers_ &&
      sqlite3_prepare_v2(database_, ("SELECT NULL" + rest).c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    damage_ = sqlite3_errmsg(database_);
}

Scan::~Scan() { sqlite3_finalize(statement_); }

bool Scan::next() {
  if (statement_ == nullptr) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    num_rows_++;
    return true;
  }
  if (code == SQLITE_INTERRUPT) {
    damage_ = "it has more rows than the file has room for";
  } else if (code != SQLITE_DONE) {
    damage_ = sqlite3_errmsg(database_);
  }
  sqlite3_finalize(statement_);
  statement_ = nullptr;
  return false;
}

Cell Scan::kind(std::size_t column) const {
  switch (sqlite3_column_type(statement_, static_cast<int>(column) + 1)) {
    case SQLITE_INTEGER:
      return Cell::integer;
    case SQLITE_FLOAT:
      return Cell::real;
    case SQLITE_TEXT:
      return Cell::text;
    case SQLITE_BLOB:
      return Cell::blob;
    default:
      return Cell::null;
  }
}

std::optional<std::int64_t> Scan::integer(std::size_t column) const {
  switch (kind(column)) {
    case Cell::integer:
      return sqlite3_column_int64(statement_, static_cast<int>(column) + 1);
    case Cell::real: {
      const double value = sqlite3_column_double(statement_, static_cast<int>(column) + 1);
      constexpr double kLimit = 9.0e18;  // below the largest whole number of 64 bits
      if (!(value > -kLimit && value < kLimit) || value != std::trunc(value)) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    case Cell::text:
      return parse_int64(text(column));
    default:
      return std::nullopt;
  }
}

std::optional<double> Scan::real(std::size_t column) const {
  switch (kind(column)) {
    case Cell::integer:
    case Cell::real:
      return sqlite3_column_double(statement_, static_cast<int>(column) + 1);
    default:
      return std::nullopt;
  }
}

std::string_view Scan::text(std::size_t column) const {
  const int at = static_cast<int>(column) + 1;
  if (sqlite3_column_type(statement_, at) == SQLITE_NULL) return {};
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, at));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, at))};
}

std::string Scan::place() const {
  const bool numbered = statement_ != nullptr && has_row_numbers_;
  return "table " + relation_ + ", row " +
         std::to_string(numbered ? sqlite3_column_int64(statement_, 0) : static_cast<std::int64_t>(num_rows_));
}

void Scan::add_damage(std::string_view shown, HealthLog& health) const {
  if (damage_.empty()) return;
  health.add(HealthKind::damaged_table, std::string(shown),
             "table " + relation_ + " cannot be read behind row " + std::to_string(num_rows_) + ": " + damage_);
}

}  // namespace chopper::sqlite
