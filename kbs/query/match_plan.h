#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/index/index_statistics.h"
#include "kbs/query/query_plan.h"

namespace ratchet::kbs {

/// One phrase of a query, and what finding it costs.
struct MatchWord {
  std::uint16_t phrase = 0;   ///< index into `QueryPlan::phrases`
  double frequency = 0;       ///< documents that hold it, or an upper bound
  bool first_choice = false;  ///< the user's own word, neither a part nor an alias of it
};

/// How one query is asked of one area of an index, so that the time it takes does not grow with the
/// corpus: documents are found by the rare words of the query alone, as far as a budget goes, and
/// the common words are only looked up in what was found.
struct MatchPlan {
  std::vector<MatchWord> words;     ///< those that find, those that are looked up, the others
  std::size_t finding = 0;          ///< so many of them find documents
  std::size_t required = 1;         ///< so many of those a document must hold
  std::size_t looking = 0;          ///< so many, finding ones included, count in what was found
  std::size_t rows = 0;             ///< at most so many documents are looked at
  std::vector<double> frequencies;  ///< by phrase of the plan; negative: not in `frequent`
};

/// Errors: those of reading the counts of frequent terms.
Result<MatchPlan> plan_match(const QueryPlan& plan, Connection& connection, Area area);

}  // namespace ratchet::kbs
