#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kbs/query/requests.h"
#include "server/core/result.h"
#include "server/facts/knowledge.h"

namespace ratchet {

struct KnowledgeOptions {
  std::filesystem::path
      builtin_index;  ///< index of the shipped wiki, opened immutable; empty: leave it out
  std::filesystem::path user_index;  ///< index of added corpora; may not exist
  bool follow_links = true;          ///< a page about the query lifts the sources it cites
};

/// The knowledge base: one ranked index over our wiki and the corpora a user adds. Read-only here.
///
/// Thread rule: safe from several threads; each query uses its own connection.
/// Query text can never cause an error: bad FTS syntax is searched as text, and the answer says so.
class Knowledge {
 public:
  static Result<std::unique_ptr<Knowledge>> open(const KnowledgeOptions& options);
  virtual ~Knowledge() = default;

  virtual Result<QueryAnswer> query(const KnowledgeQuery& query) = 0;
  /// Errors: `not_found`, with the nearest ids.
  virtual Result<Page> page(const PageRequest& request) = 0;
  virtual Result<SpecAnswer> lookup_spec(const std::string& product,
                                         const std::optional<std::string>& metric) = 0;
  /// A pattern that is no regular expression is searched as text, and the answer says so.
  virtual Result<GrepAnswer> grep(const GrepRequest& request) = 0;
  /// Ids that start with `prefix`, in order, at most `limit`: for `kbs://page/<id>`.
  virtual Result<std::vector<std::string>> page_ids(const std::string& prefix, int limit) = 0;
};

}  // namespace ratchet
