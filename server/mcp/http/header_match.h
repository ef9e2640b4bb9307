#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/mcp/message/message.h"

namespace ratchet::mcp {

/// The only value of a header; empty when it is absent. Repeated headers give two values joined, so
/// that they match nothing.
using HeaderLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Checks the headers of a stateless request that mirror its body: `Mcp-Method`, `Mcp-Name`, and
/// `Mcp-Param-*` for the properties of `schema` (null for none) that have `x-mcp-header`. Pure.
[[nodiscard]] std::optional<RpcError> header_mismatch(const Message& message,
                                                      const HeaderLookup& header,
                                                      const Json* schema);

}  // namespace ratchet::mcp
