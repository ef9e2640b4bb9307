#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

inline constexpr std::size_t kMessageLimit = std::size_t{16} << 20U;
/// Deeper nesting is rejected while parsing: serializing recurses, and no tool needs more.
inline constexpr std::size_t kDepthLimit = 128;

/// One JSON-RPC message from the client.
struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  Json id;  ///< string or integer; null for a notification
  std::string method;
  Json params;   ///< an object, or null when absent
  Json outcome;  ///< response: the whole message, with `result` or `error`
};

/// Why a text is not a message. The connection stays open.
struct Malformed {
  Json id;  ///< null where unknown
  RpcError error;
};

/// Decodes one message. Pure. Strict about UTF-8, size, nesting, duplicate names and the types of
/// the envelope.
[[nodiscard]] std::variant<Message, Malformed> decode_message(std::string_view text);

/// An id as JSON text.
[[nodiscard]] std::string id_text(const Json& id);
/// Messages to send, each one JSON object without a newline. Invalid UTF-8 becomes U+FFFD.
/// `serialized_result_text` takes a result that is JSON text already.
[[nodiscard]] std::string result_text(const Json& id, const Json& result);
[[nodiscard]] std::string serialized_result_text(const Json& id, std::string_view result);
[[nodiscard]] std::string error_text(const Json& id, const RpcError& error);
[[nodiscard]] std::string notification_text(std::string_view method, const Json& params);
[[nodiscard]] std::string request_text(const Json& id, std::string_view method, const Json& params);

}  // namespace ratchet::mcp
