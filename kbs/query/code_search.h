#pragma once

#include <string>
#include <vector>

#include "kbs/query/filters.h"
#include "kbs/query/indexes.h"
#include "kbs/query/ranking.h"
#include "kbs/query/requests.h"

namespace ratchet::kbs {

/// The part of a search that covers code. The loans and the plan must outlive it. Not thread-safe.
class CodeSearch {
 public:
  CodeSearch(const Indexes& indexes, std::vector<IndexReader::Loan>& loans, const QueryPlan& plan)
      : indexes_(indexes), loans_(loans), plan_(plan) {}

  Status make_filters(const KnowledgeQuery& query);

  /// The best `head` matches, best first, one for each file; sets `total` to the number of files
  /// that match. Uses the connections' postings and restores them.
  Result<std::vector<Scored>> find(std::size_t head, int& total);

  [[nodiscard]] Scope scope_of(const Scored& scored) const;
  /// The hit with `why`; the caller sets the score.
  Result<QueryHit> hit(const Scored& scored, const std::vector<std::string>& words);

 private:
  struct Area {
    Postings postings;
    std::vector<double> frequencies;
  };

  [[nodiscard]] RankingSource source(std::size_t reader) const;
  [[nodiscard]] const CodeStatistics& file_of(const Scored& scored) const;
  Result<bool> collect();

  const Indexes& indexes_;
  std::vector<IndexReader::Loan>& loans_;
  const QueryPlan& plan_;
  std::vector<CodeFilter> filters_;  // by index
  std::vector<Area> areas_;          // by index
};

}  // namespace ratchet::kbs
