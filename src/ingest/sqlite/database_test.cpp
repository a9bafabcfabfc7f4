// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/byte_sink.h"
#include "support/database.h"

namespace chopper::sqlite {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone when the test ends. Its name needs escaping in a URI.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "chopper 100%?#XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  fs::path file(const std::string& name) const { return path_ / name; }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(path_)) found.insert(entry.path().filename().string());
    return found;
  }

 private:
  fs::path path_;
};

std::string bytes_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result<Database> open_file(const fs::path& path) {
  ReadOptions options;
  options.path = path;
  return Database::open([&] { return open_byte_source(path); }, "input", options);
}
Result<Database> open_bytes(const std::string& bytes) {
  return Database::open([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input",
                        ReadOptions());
}

std::vector<std::int64_t> numbers_in(const Database& database, HealthLog& health) {
  std::vector<std::int64_t> numbers;
  const Relation* relation = database.find("t");
  if (relation == nullptr) return numbers;
  constexpr Column kColumns[] = {{"a"}};
  Scan scan(database, *relation, kColumns);
  while (scan.next()) numbers.push_back(scan.integer(0).value_or(-1));
  scan.add_damage("input", health);
  return numbers;
}
std::vector<std::int64_t> numbers_in(const Database& database) {
  HealthLog health;
  return numbers_in(database, health);
}

void execute(sqlite3* database, const std::string& sql) {
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
}

TEST(Database, ReadsCellsOfAllTypes) {
  const auto database =
      open_bytes(test::database_of("CREATE TABLE t (a, b); INSERT INTO t VALUES (7, 'x'), (NULL, NULL), (2.0, 2.5), "
                                   "('12', x'00ff'), ('many', 9223372036854775807), (1e300, 'y');"));
  ASSERT_TRUE(database.ok()) << database.error().text();
  constexpr Column kColumns[] = {{"a"}, {"absent"}, {"b"}, {"a", "a IS NULL"}};
  Scan scan(database.value(), *database.value().find("t"), kColumns);
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), 7);
  EXPECT_EQ(scan.kind(1), Cell::null);
  EXPECT_EQ(scan.text(2), "x");
  EXPECT_EQ(scan.integer(3), 0);
  EXPECT_EQ(scan.place(), "table t, row 1");
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), std::nullopt);
  EXPECT_EQ(scan.kind(0), Cell::null);
  EXPECT_EQ(scan.text(2), "");
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), 2);
  EXPECT_EQ(scan.integer(2), std::nullopt);
  EXPECT_EQ(scan.real(2), 2.5);
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), 12);
  EXPECT_EQ(scan.real(0), std::nullopt);
  EXPECT_EQ(scan.kind(2), Cell::blob);
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), std::nullopt);
  EXPECT_EQ(scan.integer(2), INT64_MAX);
  ASSERT_TRUE(scan.next());
  EXPECT_EQ(scan.integer(0), std::nullopt);
  EXPECT_FALSE(scan.next());
  EXPECT_EQ(scan.num_rows(), 6u);
}

TEST(Database, FilesAreReadWhereverTheyLie) {
  const Folder folder;
  const fs::path path = folder.file("a b.db");
  std::ofstream(path, std::ios::binary) << test::database_of("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);");
  const auto database = open_file(path);
  ASSERT_TRUE(database.ok()) << database.error().text();
  EXPECT_EQ(numbers_in(database.value()), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(database.value().size_bytes(), fs::file_size(path));
}

// As it is while the profiler still runs, or after it died.
TEST(Database, NothingIsWrittenAndNoLockHoldsItUp) {
  const Folder folder;
  const fs::path path = folder.file("wal.db");
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
  execute(writer,
          "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); PRAGMA wal_checkpoint;"
          "PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES (3); BEGIN EXCLUSIVE; INSERT INTO t VALUES (4);");
  const std::string bytes = bytes_of(path);
  const std::set<std::string> names = folder.names();
  {
    const auto database = open_file(path);
    ASSERT_TRUE(database.ok()) << database.error().text();
    EXPECT_EQ(numbers_in(database.value()), (std::vector<std::int64_t>{1, 2}));
    HealthLog health;
    database.value().add_notes(health);
    EXPECT_EQ(health.count(HealthKind::truncated), 1u);  // the third row is in the log
  }
  // The same bytes where no file is.
  const auto in_memory = open_bytes(bytes);
  ASSERT_TRUE(in_memory.ok()) << in_memory.error().text();
  EXPECT_EQ(numbers_in(in_memory.value()), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(bytes_of(path), bytes);
  EXPECT_EQ(folder.names(), names);
  sqlite3_close(writer);
}

TEST(Database, CompressedOnesAreReadFromMemory) {
  const Folder folder;
  const fs::path path = folder.file("t.db.gz");
  const std::string bytes = test::database_of("CREATE TABLE t (a); INSERT INTO t VALUES (5);");
  const auto sink = create_gzip_file(path);
  ASSERT_TRUE(sink.ok() && sink.value()->write(bytes).ok() && sink.value()->finish().ok());
  const auto database = open_file(path);
  ASSERT_TRUE(database.ok()) << database.error().text();
  EXPECT_EQ(numbers_in(database.value()), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(database.value().size_bytes(), bytes.size());
}

TEST(Database, OtherBytesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("SQLite format 2\0", 16), std::string("{}"),
                                   std::string("SQLite format 3\0", 16), std::string(4096, 'x')}) {
    const auto database = open_bytes(bytes);
    ASSERT_FALSE(database.ok());
    EXPECT_EQ(database.error().code, ErrorCode::bad_input);
    EXPECT_EQ(database.error().where, "input");
    EXPECT_FALSE(database.error().hint.empty());
  }
}

TEST(Database, WhatIsLeftOfACutFileIsRead) {
  std::string sql = "CREATE TABLE t (a INTEGER, b TEXT);";
  for (int i = 0; i < 400; i++)
    sql += "INSERT INTO t VALUES (" + std::to_string(i) + ", '" + std::string(100, 'x') + "');";
  const std::string whole = test::database_of(sql);
  ASSERT_GT(whole.size(), 10u * 4096);
  const auto database = open_bytes(whole.substr(0, 6 * 4096));
  ASSERT_TRUE(database.ok()) << database.error().text();
  HealthLog health;
  const std::vector<std::int64_t> numbers = numbers_in(database.value(), health);
  EXPECT_EQ(health.count(HealthKind::damaged_table), 1u);
  ASSERT_GT(numbers.size(), 50u);
  for (std::size_t i = 0; i < numbers.size(); i++) EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i));
}

// A view, or pages that point to each other, can have more rows than there will ever be time for.
TEST(Database, EndlessRowsAreCutOff) {
  const auto database = open_bytes(test::database_of(
      "CREATE VIEW t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n;"));
  ASSERT_TRUE(database.ok());
  HealthLog health;
  EXPECT_LT(numbers_in(database.value(), health).size(), 2'000'000u);
  ASSERT_EQ(health.count(HealthKind::damaged_table), 1u);
  EXPECT_NE(health.entry(HealthKind::damaged_table).examples[0].what.find("more rows"), std::string::npos);
}

TEST(Database, VirtualTablesAreLeftOut) {
  const auto database = open_bytes(test::database_of("CREATE VIRTUAL TABLE v USING fts5(a); CREATE TABLE t (a);"));
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(database.value().find("v"), nullptr);
  EXPECT_NE(database.value().find("t"), nullptr);
}

}  // namespace
}  // namespace chopper::sqlite
