#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kbs/index_reader.h"
#include "kbs/index_statistics.h"
#include "kbs/query_plan.h"

namespace ratchet::kbs {

/// How one query is asked of one full-text index, so that the time it takes does not grow with the
/// corpus: documents are found by the rare words of the query alone, as far as a budget goes, and
/// the common words are only looked up in what was found.
struct MatchPlan {
  std::string expression;                ///< empty: nothing to search
  std::vector<std::uint16_t> phrase_of;  ///< see `Postings::phrase_of`
  std::vector<double> frequencies;       ///< by phrase of the plan; negative: not counted, rare
  int limit = 0;                         ///< rows to look at
};

/// Errors: those of reading the counts of frequent terms.
Result<MatchPlan> plan_match(const QueryPlan& plan, Connection& connection, Area area);

}  // namespace ratchet::kbs
