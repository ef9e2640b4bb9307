#include "server/mcp/dispatch/request_interaction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/mcp/features/confirmation.h"

namespace ratchet::mcp {
namespace {

std::string_view capability_of(std::string_view method) {
  if (method.starts_with("elicitation/")) return "elicitation";
  if (method.starts_with("sampling/")) return "sampling";
  return "roots";
}

/// A value just above `last`: progress must increase strictly, even in a heartbeat without any.
double above(double last) {
  return last + std::max(1e-6, std::abs(last) * 1e-9);
}

}  // namespace

RequestInteraction::RequestInteraction(Dispatcher& dispatcher, Request& request,
                                       const std::stop_token& stop)
    : dispatcher_(dispatcher), request_(request), stop_(stop) {
  const Json& meta = request.meta();
  if (meta.is_object())
    if (const auto token = meta.find("progressToken");
        token != meta.end() && (token->is_string() || token->is_number_integer()))
      token_ = *token;
  CallContext::ProgressSink sink;
  if (!token_.is_null() && request_.sink)
    sink = [this](double done, std::optional<double> total, std::string_view message) {
      progress(done, total, message);
    };
  call_ = CallContext(std::move(sink), stop_,
                      [this](std::string_view question) { return confirm(question); });
}

bool RequestInteraction::client_can(std::string_view capability) const {
  if (request_.era == Era::legacy) return request_.session->client_can(capability);
  return request_.meta().at(std::string(key::kClientCapabilities)).contains(capability) ||
         request_.declares(capability);
}

bool RequestInteraction::takes_tasks() const {
  return dispatcher_.options_.jobs && client_can(extension::kTasks);
}

void RequestInteraction::progress(double done, std::optional<double> total,
                                  std::string_view message) {
  const std::lock_guard lock(progress_mutex_);
  if (stop_.stop_requested()) return;
  // Each part of the work counts from its own beginning; what is sent goes on from the part before.
  if (sent_ && (total != part_total_ || done < part_done_)) part_start_ = *sent_;
  part_done_ = done;
  part_total_ = total;
  const double next = part_start_ + done;
  sent_ = sent_ && next <= *sent_ ? above(*sent_) : next;
  Json params{{"progressToken", token_}, {"progress", *sent_}};
  if (total) params["total"] = part_start_ + *total;
  if (!message.empty()) params["message"] = message;
  request_.sink->send(notification_text("notifications/progress", params));
}

std::optional<Json> RequestInteraction::ask(const std::string& name, const std::string& method,
                                            Json params) {
  const auto capability = capability_of(method);
  if (request_.era == Era::legacy) {
    if (!client_can(capability) || !request_.sink) return std::nullopt;
    return dispatcher_.client_requests_.ask(*request_.sink, method, params, stop_);
  }
  if (const auto answer = responses_.find(name); answer != responses_.end()) return *answer;
  ask_again(name, method, std::move(params));
  return std::nullopt;
}

void RequestInteraction::ask_again(const std::string& name, const std::string& method,
                                   Json params) {
  if (request_.era == Era::legacy) return;
  const auto capability = capability_of(method);
  if (!client_can(capability)) {
    missing_capabilities_[std::string(capability)] = Json::object();
    return;
  }
  Json question{{"method", method}};
  if (!params.is_null()) question["params"] = std::move(params);
  questions_[name] = std::move(question);
}

Consent RequestInteraction::confirm(std::string_view question) {
  if (!client_can("elicitation")) return Consent::unavailable;
  const auto answer = ask("confirm", "elicitation/create", confirmation_form(question));
  if (!answer) return request_.era == Era::legacy ? Consent::unavailable : Consent::pending;
  return consent_of(*answer);
}

void RequestInteraction::log(LogLevel level, const Json& data) {
  if (!request_.sink) return;
  if (request_.era == Era::stateless) {
    // Stateless clients opt in per request.
    const Json& meta = request_.meta();
    const auto wanted = meta.find(key::kLogLevel);
    if (wanted == meta.end()) return;
    const auto lowest = decode<LogLevel>(*wanted);
    if (!lowest || level < *lowest) return;
  } else if (const auto lowest = request_.session->log_level(); lowest && level < *lowest) {
    return;
  }
  request_.sink->send(notification_text(
      "notifications/message",
      {{"level", name_of(level)}, {"logger", dispatcher_.options_.name}, {"data", data}}));
}

void RequestInteraction::publish(Change change) {
  dispatcher_.hub_.publish(change);
}

void RequestInteraction::release_connection() {
  if (request_.sink) request_.sink->hang_up();
}

std::string RequestInteraction::request_name() const {
  const Json& params = request_.message.params;
  return request_.message.method + '\n' + params.value("name", Json()).dump() + '\n' +
         params.value("arguments", Json()).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<RpcError> RequestInteraction::read_retry() {
  if (request_.era == Era::legacy) return std::nullopt;
  const Json& params = request_.message.params;
  if (const auto given = params.find("inputResponses"); given != params.end()) {
    const bool wellformed =
        given->is_object() &&
        std::all_of(given->begin(), given->end(), [](const Json& one) { return one.is_object(); });
    if (!wellformed)
      return RpcError{
          code::kInvalidParams, "params.inputResponses must be an object of objects", {}};
    responses_ = *given;
  }
  if (const auto given = params.find("requestState"); given != params.end()) {
    auto state = given->is_string()
                     ? dispatcher_.seal_.open(given->get_ref<const std::string&>(), request_name())
                     : std::nullopt;
    if (!state)
      return RpcError{code::kInvalidParams,
                      "params.requestState was changed, has expired or belongs to another request; "
                      "send the request again without it",
                      {}};
    state_ = *std::move(state);
  }
  return std::nullopt;
}

std::optional<Outcome> RequestInteraction::open_questions() const {
  if (request_.era == Era::legacy) return std::nullopt;
  if (!missing_capabilities_.empty())
    return RpcError{code::kMissingCapability,
                    "The request needs a capability that the client did not declare",
                    {{"requiredCapabilities", missing_capabilities_}}};
  if (questions_.empty() && kept_.is_null()) return std::nullopt;
  Json result{{"resultType", "input_required"}};
  if (!questions_.empty()) result["inputRequests"] = questions_;
  if (!kept_.is_null()) result["requestState"] = dispatcher_.seal_.seal(kept_, request_name());
  return result;
}

}  // namespace ratchet::mcp
