#pragma once

#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/query/query_plan.h"

namespace ratchet::kbs {

/// Finds what matches a query in one area of an index, as `plan_match` decides, and leaves the
/// matches in the connection's postings, by row. `frequencies`: see `MatchPlan`.
Status find_matches(const QueryPlan& plan, Connection& connection, Area area,
                    std::vector<double>& frequencies);

}  // namespace ratchet::kbs
