#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet::kbs {

/// A prepared statement. Views returned by the column readers live until the next step.
/// Errors of SQLite come back as `internal` with its message.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Each binds the parameter `index`, counted from 1; text is copied.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);

  /// True while there is a row.
  Result<bool> step();
  /// Runs to the end and makes the statement ready again.
  Status run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class OpenMode {
  immutable,  ///< a finished index: read-only, no locks, never changed under us (replaced by
              ///< rename)
  build,      ///< a private file that is renamed into place when done: no journal, no syncs
};

/// One connection with the tokenizer `code` and the text functions of the schema registered.
/// Not shared between threads.
class Database {
 public:
  /// Errors: `not_found` without the file (immutable), `internal` for what SQLite says.
  static Result<Database> open(const std::filesystem::path& path, OpenMode mode);

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  Status run(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// First column of the first row; `fallback` when there is none.
  Result<std::int64_t> integer(std::string_view sql, std::int64_t fallback = 0);

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace ratchet::kbs
