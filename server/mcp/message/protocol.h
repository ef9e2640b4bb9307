#pragma once

// The names and numbers of the Model Context Protocol that this server uses.

#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "server/core/fields.h"

namespace ratchet::mcp {

/// Legacy requests follow an `initialize`; stateless ones carry their version in `_meta`.
enum class Era { legacy, stateless };

inline constexpr std::string_view kStatelessVersion = "2026-07-28";
/// Newest first: the first is offered when a client asks for an unknown version.
inline constexpr std::array<std::string_view, 4> kLegacyVersions{"2025-11-25", "2025-06-18",
                                                                 "2025-03-26", "2024-11-05"};

[[nodiscard]] bool is_legacy_version(std::string_view version);

namespace code {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kBusy = -32000;              ///< no room now; nothing was done
inline constexpr int kResourceNotFound = -32002;  ///< legacy only; stateless: kInvalidParams
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;
}  // namespace code

namespace key {
inline constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientCapabilities =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";
}  // namespace key

/// Extensions that the server supports; clients declare theirs in each request.
namespace extension {
inline constexpr std::string_view kTasks = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view kSkills = "io.modelcontextprotocol/skills";
}  // namespace extension

/// A protocol error: the client's fault, or, with `kInternalError`, a bug in the server.
struct RpcError {
  int code = code::kInternalError;
  std::string message;
  Json data;  ///< left out when null
};

/// The `result` object of an answer, or the error sent instead.
using Outcome = std::variant<Json, RpcError>;

/// Lists whose changes clients are notified of.
enum class Change { tools, prompts, resources };

/// Severity of `notifications/message`, lowest first.
enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };
constexpr auto enum_names(LogLevel) {
  using enum LogLevel;
  return as_written<debug, info, notice, warning, error, critical, alert, emergency>();
}

}  // namespace ratchet::mcp
