#pragma once

#include <vector>

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// For each finding of the situation at most two pages of code in its language and for its chip
/// that say that they cure it, measured ones first.
Result<std::vector<Cure>> find_cures(const Indexes& indexes, const QuerySituation& situation);

}  // namespace ratchet::kbs
