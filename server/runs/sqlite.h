#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/result.h"

namespace ratchet::sqlite {

/// A prepared statement; finalised on destruction.
///
/// Thread rule: as its `Database`. Parameters count from 1, columns from 0, as in SQLite.
class Statement {
 public:
  Statement& bind(int index, std::int64_t value);
  /// Copies the bytes.
  Statement& bind(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);

  /// True while there is a row.
  /// Errors: `unavailable` when the database is busy, full or broken; `conflict` when a uniqueness
  /// rule refuses the row.
  [[nodiscard]] Result<bool> step();

  [[nodiscard]] std::int64_t integer(int column);
  [[nodiscard]] std::string text(int column);

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// One connection. Thread rule: one thread at a time; whoever owns it serialises.
class Database {
 public:
  /// Opens or makes the file; waits up to five seconds for other writers.
  static Result<Database> open(const std::filesystem::path& path);

  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}

  std::unique_ptr<sqlite3, Close> handle_;
};

/// Takes the write lock (or, for `reading`, a snapshot) now; rolls back at the end of the scope
/// unless `commit` succeeded.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database, bool reading = false);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace ratchet::sqlite
