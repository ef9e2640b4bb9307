#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Rows of the hardware page that the product names (id, alias, exact product, or a device name as
/// a driver reports it), of one metric or of all, each with the line it stands on.
///
/// What is not known is no error: `unknown` holds the line to archive.
/// Errors: `invalid_argument` when the name fits several products, with their ids.
Result<SpecAnswer> look_up_spec(const Indexes& indexes, const std::string& product,
                                const std::optional<std::string>& metric);

/// "<metric>: <value> <unit> <- <path>:<line>".
[[nodiscard]] std::string citation_of(const SpecRow& row, std::string_view path);

}  // namespace ratchet::kbs
