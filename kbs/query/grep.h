#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Lines that match a regular expression (RE2, linear time), documents in the order of the index,
/// those skipped that cannot match by their trigrams.
///
/// A pattern that is no regular expression is searched as text, and the answer says so.
/// Errors: `invalid_argument` for an unknown scope or a cursor of another request.
Result<GrepAnswer> grep(const Indexes& indexes, const GrepRequest& request);

}  // namespace ratchet::kbs
