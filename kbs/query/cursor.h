#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet::kbs {

/// A short fingerprint of a request and of the data that answers it. Pure.
[[nodiscard]] std::string mark_of(std::string_view request);

/// An opaque cursor: an offset that is valid only for the request with this mark.
[[nodiscard]] std::string write_cursor(std::size_t place, std::string_view mark);

/// The offset in a cursor; 0 without one. Errors: `invalid_argument` unless `write_cursor` made it
/// with the same mark.
[[nodiscard]] Result<std::size_t> read_cursor(const std::optional<std::string>& cursor,
                                              std::string_view mark);

}  // namespace ratchet::kbs
