#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Reads a page by id: the whole page or one section, with or without code, optionally followed by
/// the pages that it cites. Long text is split into parts at line ends.
///
/// Errors: `not_found` with the most similar ids, or with the available sections;
/// `invalid_argument` for a cursor of another request.
Result<Page> read_page_view(const Indexes& indexes, const PageRequest& request);

}  // namespace ratchet::kbs
