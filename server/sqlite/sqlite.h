#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/result.h"

// RAII wrappers of SQLite with `Result` errors, for the ledger and the knowledge index.
//
// Thread rule: one thread at a time may use a connection and its statements; the owner
// synchronizes. Parameters count from 1 and columns from 0, as in SQLite. Errors: `conflict` if a
// uniqueness constraint refuses a row, `unavailable` if the database is busy, full, missing or
// corrupt; the message begins with the database's name.

namespace ratchet::sqlite {

/// The name of a database in messages, and the hint for a broken one. String literals.
struct Label {
  std::string_view name;
  std::string_view hint;
};

/// A prepared statement; finalized on destruction.
class Statement {
 public:
  Statement() = default;

  /// Bind one parameter; text and bytes are copied.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);

  /// True if there is a row.
  [[nodiscard]] Result<bool> step();
  /// Runs to the end and resets the statement.
  [[nodiscard]] Status run();
  void reset();

  /// Values of the current row; views are valid until the next step.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(sqlite3_stmt* statement, Label label) : statement_(statement), label_(label) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  Label label_;
};

enum class OpenMode {
  shared,     ///< created if missing; waits up to five seconds for other writers
  immutable,  ///< read-only, no locks: the file is never modified, only replaced by rename
  scratch,    ///< a private file, renamed into place when complete: no journal, no syncs
};

/// One connection.
class Database {
 public:
  Database() = default;  ///< closed; only for assignment
  static Result<Database> open(const std::filesystem::path& path, OpenMode mode, Label label);
  /// A stranger's database, copied into memory and never changed. Its views and triggers do not
  /// run, and its schema calls no functions. Errors: `unavailable` for other bytes.
  static Result<Database> read(std::string_view bytes, Label label);

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  /// First column of the first row, or `fallback`.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql, std::int64_t fallback = 0);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  Database(sqlite3* handle, Label label) : handle_(handle), label_(label) {}

  std::unique_ptr<sqlite3, Close> handle_;
  Label label_;
};

/// Takes the write lock at once (or, if `reading`, a snapshot); rolls back at the end of the scope
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
