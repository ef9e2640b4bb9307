#include "server/sqlite/sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>

#include "server/core/files.h"

namespace ratchet::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 5000;

Error failure(sqlite3* handle, const Label& label, std::string_view doing) {
  const int code = sqlite3_errcode(handle) & 0xff;
  const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
  return {code == SQLITE_CONSTRAINT ? ErrorCode::conflict : ErrorCode::unavailable,
          fmt::format("{}: cannot {}: {}", label.name, doing, sqlite3_errmsg(handle)),
          busy                  ? "Another server writes to it: call again."
          : code == SQLITE_FULL ? std::string(hint_for(ENOSPC))
                                : std::string(label.hint)};
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

/// SQLite reads a null pointer as NULL, but an empty view means empty text.
const char* start(std::string_view bytes) {
  return bytes.data() != nullptr ? bytes.data() : "";
}

const char* settings(OpenMode mode) {
  switch (mode) {
    case OpenMode::shared:
      return "";
    case OpenMode::immutable:  // memory-mapped pages are shared by all connections
      return "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-1024;";
    case OpenMode::scratch:
      return "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
             "PRAGMA cache_size=-65536; PRAGMA page_size=8192;";
  }
  return "";
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
  sqlite3_bind_text64(statement_.get(), index, start(text), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, start(bytes), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_.get()), label_, "run a statement");
}

Status Statement::run() {
  auto row = step();
  while (row && *row) row = step();
  reset();
  if (!row) return row.error();
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
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const std::filesystem::path& path, OpenMode mode, Label label) {
  const bool reading = mode == OpenMode::immutable;
  const auto name = uri_of(path, reading ? "?immutable=1" : "");
  // The owner synchronizes, so SQLite need not.
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                    (reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(handle, label);
  if (code != SQLITE_OK) return failure(handle, label, "open " + path.string());
  if (mode == OpenMode::shared) sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  if (auto set = database.execute(settings(mode)); !set) return set.error();
  return database;
}

Result<Database> Database::read(std::string_view bytes, Label label) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, label);
  if (code != SQLITE_OK) return failure(handle, label, "open");
  auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) return unavailable(std::string(label.name) + ": no memory for it is left");
  std::copy(bytes.begin(), bytes.end(), copy);
  // Memory has no place for a log beside the file: what the file itself holds is read.
  constexpr std::size_t kVersions = 18;
  if (bytes.size() > kVersions + 1) copy[kVersions] = copy[kVersions + 1] = 1;
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(handle, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK)
    return failure(handle, label, "read");
  for (const auto& [setting, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}})
    sqlite3_db_config(handle, setting, value, nullptr);
  return database;
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(handle_.get(), label_, "run " + sql.substr(0, sql.find_first_of("(;\n")));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    return failure(handle_.get(), label_, "prepare a statement");
  return Statement(statement, label_);
}

Result<std::int64_t> Database::integer(std::string_view sql, std::int64_t fallback) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : fallback;
}

Result<Transaction> Transaction::begin(Database& database, bool reading) {
  // IMMEDIATE takes the write lock before anything is read, so that what is read stays valid.
  if (auto begun = database.execute(reading ? "BEGIN" : "BEGIN IMMEDIATE"); !begun)
    return begun.error();
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  auto done = database_->execute("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace ratchet::sqlite
