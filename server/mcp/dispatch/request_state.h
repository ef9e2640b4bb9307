#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// Seals the `requestState` that stateless clients carry between rounds of one request.
///
/// A seal holds for ten minutes, for this process, and for the request it was made for: whoever
/// changes it, keeps it or moves it to another request is refused. Pure but for the clock and the
/// key, which is drawn when this is made; thread-safe.
class StateSeal {
 public:
  StateSeal();

  /// `request` names the request: its method, name and arguments.
  [[nodiscard]] std::string seal(const Json& state, std::string_view request) const;
  /// The state; empty when the seal is broken, expired, or another request's.
  [[nodiscard]] std::optional<Json> open(std::string_view sealed, std::string_view request) const;

 private:
  std::string key_;
};

}  // namespace ratchet::mcp
