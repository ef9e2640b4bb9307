#pragma once

#include <string_view>

#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// Parses JSON of strangers: nested 64 levels deep at most, since destroying and serializing
/// recurse, and of 200,000 values at most, of which each takes far more memory than its text.
/// Errors: `invalid_argument` for other texts than JSON, `too_large` beyond the limits.
[[nodiscard]] Result<Json> bounded_json(std::string_view text);

}  // namespace ratchet
