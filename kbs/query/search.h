#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Answers a query with the matches of all indexes, ranked and filtered, with snippets for the
/// requested page of results.
///
/// Any text is accepted. Errors: `invalid_argument` for an unknown scope or a cursor of another
/// query; `internal` for a damaged index.
Result<QueryAnswer> search(const Indexes& indexes, const KnowledgeQuery& query);

}  // namespace ratchet::kbs
