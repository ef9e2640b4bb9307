#pragma once

#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Looks up one metric or all metrics on the hardware page of a product, each with its line. The
/// product is an id, an alias, the exact product name, or a device name as a driver reports it.
///
/// An unknown product or metric is not an error: `unknown` then contains the line to record.
/// Errors: `invalid_argument` when the name fits several products, with their ids.
Result<SpecAnswer> look_up_spec(const Indexes& indexes, const std::string& product,
                                const std::optional<std::string>& metric);

}  // namespace ratchet::kbs
