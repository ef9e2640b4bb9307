#pragma once

#include <cstddef>
#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/query/query_plan.h"

namespace ratchet::kbs {

/// What of one index matches a query, as its plan has it (see MatchPlan): left in the connection's
/// postings, by row. `frequencies`: as of the plan.
///
/// Of pages, FTS5 finds the rare words and phrases; frequent words are read from their lists.
/// `rows`: one more than the highest row of a page.
Status match_pages(const QueryPlan& plan, Connection& connection, std::size_t rows,
                   std::vector<double>& frequencies);

/// Of code, FTS5 finds all.
Status match_code(const QueryPlan& plan, Connection& connection, std::vector<double>& frequencies);

}  // namespace ratchet::kbs
