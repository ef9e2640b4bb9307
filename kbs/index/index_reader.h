#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbs/documents/page_reader.h"
#include "kbs/index/for_each_row.h"
#include "kbs/index/fts.h"
#include "kbs/index/index_database.h"
#include "kbs/index/index_statistics.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A connection with its prepared statements and the postings of its collector. Not thread-safe.
struct Connection {
  Database database;
  std::unique_ptr<Postings> postings = std::make_unique<Postings>();
  std::unordered_map<std::string_view, Statement> statements;

  /// The statement for `sql`, which must be a string literal, ready for binding. Prepared on first
  /// use and cached for the life of the connection.
  Result<Statement*> prepared(std::string_view sql);
};

/// Runs a query given as a string literal and calls `visit(row)` for each row, as
/// `for_each_row(Database&, …)` does.
template <class Visit, class... Values>
[[nodiscard]] Status for_each_row(Connection& connection, std::string_view sql, Visit visit,
                                  const Values&... values) {
  auto query = connection.prepared(sql);
  if (!query) return query.error();
  return for_each_row(bind_all(**query, values...), visit);
}

/// A finished index file, open for reading by several threads: statistics in memory, connections
/// pooled. If the file is replaced on disk, this object keeps reading the one it opened.
class IndexReader {
 public:
  /// Errors: `not_found` without the file, `unavailable` for one of another schema.
  static Result<std::shared_ptr<IndexReader>> open(const std::filesystem::path& path);

  /// A connection borrowed from the pool and returned on destruction. Must not outlive the reader.
  class Loan {
   public:
    Loan(IndexReader& reader, std::unique_ptr<Connection> connection)
        : reader_(&reader), connection_(std::move(connection)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (connection_) reader_->give_back(std::move(connection_));
    }
    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

   private:
    IndexReader* reader_;
    std::unique_ptr<Connection> connection_;
  };

  Result<Loan> connection();

  [[nodiscard]] const IndexStatistics& statistics() const { return statistics_; }
  [[nodiscard]] const CodeIndexStatistics& code() const { return code_; }
  [[nodiscard]] const std::vector<Alias>& aliases() const { return aliases_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// A value that changes whenever the file at the path is replaced; empty without a file.
  [[nodiscard]] static std::string identity_of(const std::filesystem::path& path);
  [[nodiscard]] const std::string& identity() const { return identity_; }

 private:
  IndexReader() = default;
  static Result<std::unique_ptr<Connection>> connect(const std::filesystem::path& path);
  void give_back(std::unique_ptr<Connection> connection);

  std::filesystem::path path_;
  std::string identity_;
  IndexStatistics statistics_;
  CodeIndexStatistics code_;
  std::vector<Alias> aliases_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace ratchet::kbs
