#pragma once

#include <vector>

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// For each finding of the situation at most two pages: code in its language and for its chip that
/// says that it cures it, measured code first; where there is none, fragments of code in the
/// methods and techniques that the finding's page proposes, or else that page's own list of ways.
Result<std::vector<Cure>> find_cures(const Indexes& indexes, const QuerySituation& situation);

}  // namespace ratchet::kbs
