#include "server/runs/sqlite.h"

#include <fmt/format.h>

namespace ratchet::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 5000;

Error failure(sqlite3* handle, std::string_view doing) {
  const int code = sqlite3_errcode(handle) & 0xff;
  const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
  return {code == SQLITE_CONSTRAINT ? ErrorCode::conflict : ErrorCode::unavailable,
          fmt::format("ledger: cannot {}: {}", doing, sqlite3_errmsg(handle)),
          busy ? "Another server writes to this state directory: call again." : ""};
}

}  // namespace

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_.get()), "run a statement");
}

std::int64_t Statement::integer(int column) {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

Result<Database> Database::open(const std::filesystem::path& path) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return failure(handle, fmt::format("open {}", path.string()));
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(handle_.get(), "run " + sql.substr(0, sql.find_first_of("(;\n")));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    return failure(handle_.get(), "prepare a statement");
  return Statement(statement);
}

Result<Transaction> Transaction::begin(Database& database, bool reading) {
  // IMMEDIATE: the write lock is taken before anything is read, so what is read stays true.
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
