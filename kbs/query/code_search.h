#pragma once

#include <string>
#include <vector>

#include "kbs/query/filters.h"
#include "kbs/query/indexes.h"
#include "kbs/query/ranking.h"
#include "kbs/query/requests.h"

namespace ratchet::kbs {

/// The part of one search that looks through code. The loans and the plan must outlive it; one
/// thread at a time.
class CodeSearch {
 public:
  CodeSearch(const Indexes& indexes, std::vector<IndexReader::Loan>& loans, const QueryPlan& plan)
      : indexes_(indexes), loans_(loans), plan_(plan) {}

  Status make_filters(const KnowledgeQuery& query);

  /// The best `head` matches, best first, one for each file; `total`: how many there are. Uses the
  /// connections' postings and leaves them as they were.
  Result<std::vector<Scored>> find(std::size_t head, int& total);

  [[nodiscard]] Scope scope_of(const Scored& scored) const;
  /// With score and why.
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
