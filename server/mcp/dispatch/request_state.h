#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// Seals the `requestState` that stateless clients carry between rounds of one request.
///
/// A seal is valid for ten minutes, in this process, and for the request it was made for. The key
/// is random per object. Thread-safe.
class StateSeal {
 public:
  StateSeal();

  /// `request` identifies the request by its method, name and arguments.
  [[nodiscard]] std::string seal(const Json& state, std::string_view request) const;
  /// The state; empty when the seal is broken, expired, or of another request.
  [[nodiscard]] std::optional<Json> open(std::string_view sealed, std::string_view request) const;

 private:
  std::string key_;
};

}  // namespace ratchet::mcp
