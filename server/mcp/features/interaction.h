#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core/call_context.h"
#include "server/mcp/features/features.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// What a handler may do towards the client while it serves one request: report progress, log, ask.
///
/// Thread rule: one thread at a time, except `call()`, whose parts say their own. Owned by the
/// dispatcher; ends with the request.
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

  /// Puts a request (`elicitation/create`, `sampling/createMessage`, `roots/list`) to the client.
  ///
  /// Legacy: waits for the answer. Stateless: gives the answer when this retry carries one under
  /// `name`; else notes the question, and whatever the handler returns is replaced by an
  /// `input_required` result. Empty when there is no answer (yet), for whatever reason.
  virtual std::optional<Json> ask(const std::string& name, const std::string& method,
                                  Json params) = 0;
  /// Puts a question again whose answer was of no use (stateless era; else nothing happens).
  virtual void ask_again(const std::string& name, const std::string& method, Json params) = 0;

  /// State that a stateless retry brought back, verified to be ours and for this request; else
  /// null.
  [[nodiscard]] virtual const Json& state() const = 0;
  /// State to hand out with the `input_required` result, sealed.
  virtual void keep(Json state) = 0;

  /// Sends `notifications/message` where the client asked for this level.
  virtual void log(LogLevel level, const Json& data) = 0;
  /// Tells subscribers that a list changed.
  virtual void publish(Change change) = 0;
  /// Lets a connection go whose client can come back for the rest (legacy HTTP); the call goes on.
  virtual void release_connection() = 0;
};

}  // namespace ratchet::mcp
