#include "kbs/sqlite.h"

#include <fmt/format.h>

#include "kbs/fts.h"

namespace ratchet::kbs {
namespace {

Error sqlite_error(sqlite3* database, std::string_view doing) {
  return {ErrorCode::internal,
          fmt::format("knowledge index: {}: {}", doing, sqlite3_errmsg(database)),
          "Run `ratchet kbs doctor`."};
}

/// A path as a `file:` URI.
std::string uri_of(const std::filesystem::path& path, std::string_view parameters) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' ||
                       c == '_' || c == '.';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri.append(parameters);
}

}  // namespace

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() != nullptr ? text.data() : "",
                      text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data() != nullptr ? bytes.data() : "",
                      bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(sqlite3_db_handle(statement_.get()), "step");
}

Status Statement::run() {
  for (;;) {
    auto row = step();
    if (!row) {
      auto error = row.error();
      reset();
      return error;
    }
    if (!*row) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = sqlite3_column_blob(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const std::filesystem::path& path, OpenMode mode) {
  const bool reading = mode == OpenMode::immutable;
  std::error_code ignored;
  if (reading && !std::filesystem::is_regular_file(path, ignored))
    return Error{ErrorCode::not_found, fmt::format("no knowledge index at {}", path.string()),
                 "Run `ratchet kbs add DIR`, or build the project."};
  Database database;
  sqlite3* handle = nullptr;
  const auto name = uri_of(path, reading ? "?immutable=1" : "");
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                    (reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return sqlite_error(handle, "open " + path.string());
  if (auto done = register_functions(handle); !done) return done.error();
  // Mapped pages are shared by all connections and are not ours to account for.
  auto settings = database.run(reading ? "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-1024;"
                                       : "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                                         "PRAGMA cache_size=-65536; PRAGMA page_size=8192;");
  if (!settings) return settings.error();
  return database;
}

Status Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return sqlite_error(handle_.get(), "run");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    return sqlite_error(handle_.get(), "prepare");
  return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql, std::int64_t fallback) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : fallback;
}

}  // namespace ratchet::kbs
