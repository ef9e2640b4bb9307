#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/index/index_statistics.h"
#include "kbs/query/query_plan.h"

namespace ratchet::kbs {

/// One phrase of a query and its cost.
struct MatchWord {
  std::uint16_t phrase = 0;   ///< index into `QueryPlan::phrases`
  double frequency = 0;       ///< number of documents that contain it, or an upper bound
  bool first_choice = false;  ///< the user's own word, neither a part nor an alias of it
};

/// How to run a query against one area of an index in time that does not grow with the corpus: only
/// the rare words of the query select documents, within a budget, and the common words are only
/// looked up in the documents selected.
struct MatchPlan {
  std::vector<MatchWord> words;     ///< selecting words, then those looked up, then the rest
  std::size_t finding = 0;          ///< number of words that select documents
  std::size_t required = 1;         ///< how many of these a document must contain
  std::size_t looking = 0;          ///< number of words looked up, including the selecting ones
  std::size_t rows = 0;             ///< maximum number of documents
  std::vector<double> frequencies;  ///< by phrase of the plan; negative: not in `frequent`
};

/// Errors: those of reading the counts of frequent terms.
Result<MatchPlan> plan_match(const QueryPlan& plan, Connection& connection, Area area);

}  // namespace ratchet::kbs
