#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "server/core/field.h"

namespace ratchet::mcp {

/// Why a text is rejected.
enum class JsonFault {
  syntax,         ///< not JSON, not UTF-8, or a number out of range
  too_deep,       ///< nested deeper than allowed
  repeated_name,  ///< a name occurs twice in one object, which readers interpret differently
};

/// Parses one JSON value in one pass, stricter than the parser alone: nesting is bounded, since
/// destroying and serializing recurse, and no object may hold a name twice. Pure.
[[nodiscard]] std::variant<Json, JsonFault> parse_strictly(std::string_view text,
                                                           std::size_t depth_limit);

}  // namespace ratchet::mcp
