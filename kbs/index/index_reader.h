#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbs/documents/page_reader.h"
#include "kbs/index/fts.h"
#include "kbs/index/index_database.h"
#include "kbs/index/index_statistics.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A connection, its prepared statements and what the collector on it gathered. One user at a time.
struct Connection {
  Database database;
  std::unique_ptr<Postings> postings = std::make_unique<Postings>();
  std::unordered_map<std::string_view, Statement> statements;

  /// The statement of a literal, ready for binding; prepared on first use. Lives as long as the
  /// connection; `sql` must be a literal.
  Result<Statement*> prepared(std::string_view sql);
};

/// A finished index file, opened for reading by many threads: statistics in memory, connections
/// pooled. The file may be replaced on disk; this object keeps reading the one it opened.
class IndexReader {
 public:
  /// Errors: `not_found` without the file, `unavailable` for one of another schema.
  static Result<std::shared_ptr<IndexReader>> open(const std::filesystem::path& path);

  /// A connection on loan; goes back to the pool at the end of its life. Must not outlive the
  /// reader.
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
  /// Changes whenever the file at the path was replaced.
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
