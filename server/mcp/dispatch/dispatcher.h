#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "server/mcp/dispatch/metrics.h"
#include "server/mcp/dispatch/request_state.h"
#include "server/mcp/features/catalogue.h"
#include "server/mcp/features/server_options.h"
#include "server/mcp/message/message.h"
#include "server/mcp/session/client_requests.h"
#include "server/mcp/session/hub.h"
#include "server/mcp/session/session.h"

namespace ratchet::mcp {

/// One request on its way through the server, its era settled.
struct Request {
  Message message;
  Era era = Era::legacy;
  std::shared_ptr<Session> session;   ///< never null
  std::shared_ptr<MessageSink> sink;  ///< for what is sent before the answer; may be null

  /// `params._meta`, or null.
  [[nodiscard]] const Json& meta() const;
  /// Whether the client declared the extension in this request; never in the legacy era.
  [[nodiscard]] bool declares(std::string_view extension) const;
};

/// An answer, ready to send.
struct Reply {
  std::string text;
  int error = 0;         ///< JSON-RPC code; 0 for a result
  bool refused = false;  ///< the envelope was wrong; nothing was looked at beyond it
  Era era = Era::legacy;
};

/// How a request arrived, as far as choosing its era goes.
struct Arrival {
  bool http = false;
  std::optional<std::string> version_header;
};

/// Finds out what a message wants and does it. Knows both eras, no transport.
///
/// Thread rule: all members from any thread; `serve` runs tools on the calling thread.
class Dispatcher {
 public:
  explicit Dispatcher(ServerOptions options);

  /// Settles the era of a request and checks its envelope.
  [[nodiscard]] std::variant<Request, Reply> admit(Message message, const Arrival& arrival,
                                                   std::shared_ptr<Session> session) const;

  /// What serving it may cost: `quick` for what answers from memory or calls a reading tool.
  enum class Cost { quick, slow, listens };
  [[nodiscard]] Cost cost(const Request& request) const;

  /// Serves a request other than `subscriptions/listen`. Empty when the client cancelled it: then
  /// nothing more may be sent for it. `disconnected` stops it too.
  [[nodiscard]] std::optional<Reply> serve(Request& request, std::stop_token disconnected = {});

  /// Opens a `subscriptions/listen`; its messages go to the request's sink.
  [[nodiscard]] std::variant<std::shared_ptr<Hub::Listener>, Reply> listen(const Request& request);

  /// Takes a notification or a response; nothing is answered.
  void notice(const Message& message, Session& session, const MessageSink* sink);

  /// Input schema of a tool; null for an unknown one.
  [[nodiscard]] const Json* input_schema(const std::string& tool) const;

  [[nodiscard]] Hub& hub() { return hub_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] const ServerOptions& options() const { return options_; }

  [[nodiscard]] static Reply refusal(const Json& id, const RpcError& error, Era era) {
    return {error_text(id, error), error.code, true, era};
  }

 private:
  friend class RequestInteraction;
  using Answer = std::variant<Json, std::string, RpcError>;  ///< a result may come serialised
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
  /// Runs a handler that may ask the client, and turns open questions into `input_required`.
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
