#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core/call_context.h"
#include "server/mcp/features/features.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// What a handler may do toward the client while it serves one request: report progress, log, ask.
///
/// Thread rule: one thread at a time, except `call()`, which documents its own. Owned by the
/// dispatcher; lives as long as the request.
class Interaction {
 public:
  virtual ~Interaction() = default;

  [[nodiscard]] virtual CallContext& call() = 0;
  /// Whether the client declared the capability ("elicitation", "sampling", "roots") or, by its
  /// identifier, the extension.
  [[nodiscard]] virtual bool client_can(std::string_view capability) const = 0;

  /// Whether a task may answer the call: the server offers tasks and the client declared that it
  /// takes them.
  [[nodiscard]] virtual bool takes_tasks() const = 0;

  /// Sends a request (`elicitation/create`, `sampling/createMessage`, `roots/list`) to the client.
  ///
  /// Legacy: waits for the answer. Stateless: returns the answer if this retry carries one under
  /// `name`; otherwise records the question, and an `input_required` result replaces whatever the
  /// handler returns. Empty when there is no answer, or none yet.
  virtual std::optional<Json> ask(const std::string& name, const std::string& method,
                                  Json params) = 0;
  /// Asks again after an unusable answer. Stateless era only; otherwise does nothing.
  virtual void ask_again(const std::string& name, const std::string& method, Json params) = 0;

  /// State that a stateless retry returned, verified to be unchanged and for this request; null if
  /// there is none.
  [[nodiscard]] virtual const Json& state() const = 0;
  /// Stores state, sealed, in the `input_required` result.
  virtual void keep(Json state) = 0;

  /// Sends `notifications/message` if the client asked for this level.
  virtual void log(LogLevel level, const Json& data) = 0;
  /// Notifies clients that a list changed.
  virtual void publish(Change change) = 0;
  /// Closes the connection of a client that can resume its stream (legacy HTTP); the call
  /// continues.
  virtual void release_connection() = 0;
};

}  // namespace ratchet::mcp
