#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet::kbs {

/// A short mark of a request and of what it is answered from. Pure.
[[nodiscard]] std::string mark_of(std::string_view request);

/// An opaque cursor: a place, good only for the request that the mark stands for.
[[nodiscard]] std::string write_cursor(std::size_t place, std::string_view mark);

/// 0 without a cursor. Errors: `invalid_argument` for anything that `write_cursor` did not make of
/// this mark.
[[nodiscard]] Result<std::size_t> read_cursor(const std::optional<std::string>& cursor,
                                              std::string_view mark);

}  // namespace ratchet::kbs
