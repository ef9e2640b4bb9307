#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "server/mcp/dispatch/metrics.h"
#include "server/mcp/dispatch/request_state.h"
#include "server/mcp/features/catalog.h"
#include "server/mcp/features/server_options.h"
#include "server/mcp/message/message.h"
#include "server/mcp/session/client_requests.h"
#include "server/mcp/session/hub.h"
#include "server/mcp/session/session.h"

namespace ratchet::mcp {

/// One request whose era is known.
struct Request {
  Message message;
  Era era = Era::legacy;
  std::shared_ptr<Session> session;   ///< never null
  std::shared_ptr<MessageSink> sink;  ///< for messages before the answer; may be null

  /// `params._meta`, or null.
  [[nodiscard]] const Json& meta() const;
  /// Whether the client declared the extension in this request. Always false in the legacy era.
  [[nodiscard]] bool declares(std::string_view extension) const;
};

/// An answer, ready to send.
struct Reply {
  std::string text;
  int error = 0;         ///< JSON-RPC code; 0 for a result
  bool refused = false;  ///< rejected for its envelope, before the method was looked at
  Era era = Era::legacy;
};

/// The part of a request's transport that decides its era.
struct Arrival {
  bool http = false;
  std::optional<std::string> version_header;
};

/// Routes messages to the methods of both eras and runs them. Independent of the transport.
///
/// Thread-safe; `serve` runs tools on the calling thread.
class Dispatcher {
 public:
  explicit Dispatcher(ServerOptions options);

  /// Determines the era of a request and checks its envelope.
  [[nodiscard]] std::variant<Request, Reply> admit(Message message, const Arrival& arrival,
                                                   std::shared_ptr<Session> session) const;

  /// How long serving a request may take: `quick` for answers from memory and tools that only read.
  /// `waits` for calls that only wait for a job.
  enum class Cost { quick, slow, waits, listens };
  [[nodiscard]] Cost cost(const Request& request) const;

  /// Serves a request other than `subscriptions/listen`. Empty when the client canceled it: then
  /// nothing may be sent for it anymore. `disconnected` stops it, too.
  [[nodiscard]] std::optional<Reply> serve(Request& request, std::stop_token disconnected = {});

  /// Opens a `subscriptions/listen`, whose messages go to the request's sink.
  [[nodiscard]] std::variant<std::shared_ptr<Hub::Listener>, Reply> listen(const Request& request);

  /// Handles a notification or a response; neither is answered.
  void notice(const Message& message, Session& session, const MessageSink* sink);

  /// Input schema of a tool; null for an unknown tool.
  [[nodiscard]] const Json* input_schema(const std::string& tool) const;

  [[nodiscard]] Hub& hub() { return hub_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] const ServerOptions& options() const { return options_; }

  /// The answer to a request for which there is no room now.
  [[nodiscard]] static Reply busy(const Request& request);

  [[nodiscard]] static Reply refusal(const Json& id, const RpcError& error, Era era) {
    return {error_text(id, error), error.code, true, era};
  }

 private:
  friend class RequestInteraction;
  using Answer =
      std::variant<Json, std::string, RpcError>;  ///< a result, as Json or as text, or an error
  using Handler = Answer (Dispatcher::*)(Request&, const std::stop_token&);
  struct Method {
    Handler legacy = nullptr;
    Handler stateless = nullptr;
  };
  struct KnownTool {
    const OfferedTool* tool = nullptr;
    Metrics::Tool* metrics = nullptr;
  };

  void add_methods();
  [[nodiscard]] std::optional<RpcError> envelope_error(const Request& request,
                                                       const Arrival& arrival) const;
  [[nodiscard]] Json capabilities(Era era) const;
  [[nodiscard]] Json extensions() const;
  [[nodiscard]] Handler handler_of(const Request& request) const;

  Answer initialize(Request& request, const std::stop_token& stop);
  Answer discover(Request& request, const std::stop_token& stop);
  Answer ping(Request& request, const std::stop_token& stop);
  Answer set_log_level(Request& request, const std::stop_token& stop);
  Answer complete(Request& request, const std::stop_token& stop);
  Answer list_tools(Request& request, const std::stop_token& stop);
  Answer call_tool(Request& request, const std::stop_token& stop);
  Answer list_prompts(Request& request, const std::stop_token& stop);
  Answer get_prompt(Request& request, const std::stop_token& stop);
  Answer list_resources(Request& request, const std::stop_token& stop);
  Answer list_templates(Request& request, const std::stop_token& stop);
  Answer read_resource(Request& request, const std::stop_token& stop);
  Answer subscribe(Request& request, const std::stop_token& stop);
  Answer unsubscribe(Request& request, const std::stop_token& stop);

  Answer get_task(Request& request, const std::stop_token& stop);
  Answer update_task(Request& request, const std::stop_token& stop);
  Answer cancel_task(Request& request, const std::stop_token& stop);
  Answer list_skills(Request& request, const std::stop_token& stop);
  Answer get_skill(Request& request, const std::stop_token& stop);

  /// The job that `params.taskId` names.
  [[nodiscard]] std::variant<std::shared_ptr<BackgroundCall>, RpcError> task_of(
      const Request& request) const;
  Answer page_of(const PagedList& list, const Request& request) const;
  /// Runs a handler that may ask the client, and turns its open questions into `input_required`.
  Answer interact(Request& request, const std::stop_token& stop,
                  const std::function<Outcome(Interaction&)>& handler);

  const ServerOptions options_;
  const Identity identity_;
  const PagedList tools_;
  const PagedList prompts_;
  const PagedList templates_;
  const PagedList skills_;
  std::unordered_map<std::string, Method> methods_;
  std::unordered_map<std::string, KnownTool> tool_by_name_;
  std::unordered_map<std::string, const Prompt*> prompt_by_name_;
  const StateSeal seal_;
  ClientRequests client_requests_;
  Hub hub_;
  Metrics metrics_;
};

/// A string member of `params`, or the error that names it.
[[nodiscard]] std::variant<std::string, RpcError> string_param(const Json& params,
                                                               std::string_view name);

}  // namespace ratchet::mcp
