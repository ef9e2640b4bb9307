#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Finds the lines that match a regular expression (RE2, linear time). Documents come in the order
/// of the index; those whose trigrams rule out a match are skipped without reading their text.
///
/// A pattern that is not a regular expression is searched as text, and the answer says so.
/// Errors: `invalid_argument` for an unknown scope or a cursor of another request.
Result<GrepAnswer> grep(const Indexes& indexes, const GrepRequest& request);

}  // namespace ratchet::kbs
