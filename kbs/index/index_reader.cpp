#include "kbs/index/index_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "kbs/index/index_schema.h"

namespace ratchet::kbs {

namespace {
constexpr std::size_t kIdleConnections = 16;
}

Result<Statement*> Connection::prepared(std::string_view sql) {
  if (const auto known = statements.find(sql); known != statements.end()) {
    known->second.reset();
    return &known->second;
  }
  auto fresh = database.prepare(sql);
  if (!fresh) return fresh.error();
  return &statements.emplace(sql, *std::move(fresh)).first->second;
}

std::string IndexReader::identity_of(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}:{}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

Result<std::unique_ptr<Connection>> IndexReader::connect(const std::filesystem::path& path) {
  auto connection = std::make_unique<Connection>();
  auto database = open_index(path, OpenMode::immutable);
  if (!database) return database.error();
  connection->database = *std::move(database);
  if (auto done = register_collector(connection->database.handle(), *connection->postings); !done)
    return done.error();
  return connection;
}

Result<std::shared_ptr<IndexReader>> IndexReader::open(const std::filesystem::path& path) {
  std::shared_ptr<IndexReader> reader(new IndexReader());
  reader->path_ = path;
  reader->identity_ = identity_of(path);
  auto connection = connect(path);
  if (!connection) return connection.error();
  auto& database = (*connection)->database;
  const auto version = database.integer("SELECT value FROM meta WHERE name='schema'");
  if (!version || *version != kSchemaVersion)
    return unavailable(
        fmt::format("{} is not a knowledge index of this version", path.string()),
        "Move that file elsewhere and add the corpora again: `ratchet kbs add DIR`.");
  auto statistics = read_statistics(database);
  if (!statistics) return statistics.error();
  reader->statistics_ = *std::move(statistics);
  auto code = read_code_statistics(database);
  if (!code) return code.error();
  reader->code_ = *std::move(code);
  auto aliases = for_each_row(
      database, "SELECT word, replacement FROM alias ORDER BY word, replacement",
      [&](const Statement& row) {
        reader->aliases_.push_back({std::string(row.text(0)), std::string(row.text(1))});
      });
  if (!aliases) return aliases.error();
  reader->give_back(*std::move(connection));
  return reader;
}

Result<IndexReader::Loan> IndexReader::connection() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return Loan(*this, std::move(connection));
    }
  }
  auto fresh = connect(path_);
  if (!fresh) return fresh.error();
  return Loan(*this, *std::move(fresh));
}

void IndexReader::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleConnections) idle_.push_back(std::move(connection));
}

}  // namespace ratchet::kbs
