#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kbs/query/requests.h"
#include "server/core/result.h"
#include "server/facts/knowledge.h"

namespace ratchet {

namespace kbs {
struct Indexes;
}

struct KnowledgeOptions {
  std::filesystem::path builtin_index;  ///< index of the shipped wiki; empty: leave it out
  std::filesystem::path user_index;     ///< index of added corpora; may not exist
  bool follow_links = true;             ///< a page about the query raises the sources that it cites
};

/// The knowledge base: one ranked search over the shipped wiki and the corpora that a user adds.
/// Read-only. Picks up changes that `ratchet kbs add` and `remove` make to the user's index.
///
/// Thread-safe: each call uses its own database connection.
class Knowledge {
 public:
  static Result<std::unique_ptr<Knowledge>> open(const KnowledgeOptions& options);

  /// Any text is accepted: query syntax is searched as text, and the answer says so.
  Result<QueryAnswer> query(const KnowledgeQuery& query);
  /// Errors: `not_found`, with the most similar ids.
  Result<Page> page(const PageRequest& request);
  Result<SpecAnswer> lookup_spec(const std::string& product,
                                 const std::optional<std::string>& metric);
  /// A pattern that is not a regular expression is searched as text, and the answer says so.
  Result<GrepAnswer> grep(const GrepRequest& request);
  /// Code that cures the situation's findings, in its language and for its chip.
  Result<std::vector<Cure>> cures(const QuerySituation& situation);
  /// Ids that start with `prefix`, in order, at most `limit`: for `kbs://page/<id>`.
  Result<std::vector<std::string>> page_ids(const std::string& prefix, int limit);

 private:
  Knowledge(KnowledgeOptions options, std::shared_ptr<const kbs::Indexes> indexes,
            std::string identity);
  Result<std::shared_ptr<const kbs::Indexes>> current();

  KnowledgeOptions options_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<const kbs::Indexes> indexes_;
  std::string identity_;  // of the user's index
};

}  // namespace ratchet
