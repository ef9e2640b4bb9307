#pragma once

#include <functional>
#include <optional>
#include <string>

#include "server/mcp/message/message.h"

namespace ratchet::mcp {

/// The value of a header; empty when it is absent. The values of a repeated header are joined, so
/// that they match nothing.
using HeaderLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Checks that the headers of a stateless request match its body: `Mcp-Method`, `Mcp-Name`, and
/// `Mcp-Param-*` for the properties of `schema` (may be null) that have `x-mcp-header`. Pure.
[[nodiscard]] std::optional<RpcError> header_mismatch(const Message& message,
                                                      const HeaderLookup& header,
                                                      const Json* schema);

}  // namespace ratchet::mcp
