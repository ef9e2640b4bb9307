#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// A page by id: whole, one section, with or without its code, followed by the pages it cites.
/// Paged by bytes at line ends.
///
/// Errors: `not_found` with the nearest ids, or with the sections there are; `invalid_argument` for
/// a cursor of another request.
Result<Page> read_page_view(const Indexes& indexes, const PageRequest& request);

}  // namespace ratchet::kbs
