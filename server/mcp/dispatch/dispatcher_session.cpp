// Methods about the connection: initialize, discover, ping, logging, listen, notifications.

#include <algorithm>
#include <string>
#include <utility>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/features/tasks.h"

namespace ratchet::mcp {
namespace {

bool flag(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

Dispatcher::Answer Dispatcher::initialize(Request& request, const std::stop_token&) {
  auto requested = string_param(request.message.params, "protocolVersion");
  if (auto* error = std::get_if<RpcError>(&requested)) return std::move(*error);
  std::string version = std::get<std::string>(std::move(requested));
  if (!is_legacy_version(version)) version = kLegacyVersions.front();

  request.session->open(request.message.params.value("capabilities", Json::object()));
  Json result{{"protocolVersion", version},
              {"capabilities", this->capabilities(Era::legacy)},
              {"serverInfo", identity_.info()}};
  if (!options_.instructions.empty()) result["instructions"] = options_.instructions;
  return result;
}

Dispatcher::Answer Dispatcher::discover(Request&, const std::stop_token&) {
  Json result{{"supportedVersions", Json::array({kStatelessVersion})},
              {"capabilities", capabilities(Era::stateless)}};
  if (!options_.instructions.empty()) result["instructions"] = options_.instructions;
  identity_.finish(result, Era::stateless, kStatic);
  return result;
}

Dispatcher::Answer Dispatcher::ping(Request&, const std::stop_token&) {
  return Json::object();
}

Dispatcher::Answer Dispatcher::set_log_level(Request& request, const std::stop_token&) {
  const Json& params = request.message.params;
  const auto level = decode<LogLevel>(params.is_object() ? params.value("level", Json()) : Json(),
                                      Place{"params.level", Strictness::strict});
  if (!level) return RpcError{code::kInvalidParams, level.error().message, {}};
  request.session->set_log_level(*level);
  return Json::object();
}

Dispatcher::Answer Dispatcher::page_of(const PagedList& list, const Request& request) const {
  const Json& params = request.message.params;
  std::optional<std::string_view> cursor;
  if (params.is_object()) {
    if (const auto found = params.find("cursor"); found != params.end()) {
      if (!found->is_string())
        return RpcError{code::kInvalidParams, "params.cursor must be a string", {}};
      cursor = found->get_ref<const std::string&>();
    }
  }
  const std::string* page = list.page(cursor, request.era);
  if (page == nullptr)
    return RpcError{
        code::kInvalidParams, "params.cursor is unknown; list again without a cursor", {}};
  return *page;
}

std::variant<std::shared_ptr<Hub::Listener>, Reply> Dispatcher::listen(const Request& request) {
  const Json& params = request.message.params;
  const auto wanted = params.find("notifications");
  if (wanted == params.end() || !wanted->is_object())
    return refusal(request.message.id,
                   {code::kInvalidParams, "params.notifications must be an object", {}},
                   request.era);
  if (wanted->contains("taskIds") && !request.declares(extension::kTasks))
    return refusal(request.message.id, tasks_not_declared(), request.era);
  // The acknowledgement names only notifications that this server can send.
  ListenFilter filter;
  Json honored = Json::object();
  filter.tools = options_.lists_change && flag(*wanted, "toolsListChanged");
  filter.prompts =
      options_.lists_change && !options_.prompts.empty() && flag(*wanted, "promptsListChanged");
  filter.resources = !options_.resources.empty() && flag(*wanted, "resourcesListChanged");
  if (filter.tools) honored["toolsListChanged"] = true;
  if (filter.prompts) honored["promptsListChanged"] = true;
  if (filter.resources) honored["resourcesListChanged"] = true;
  const auto uris = wanted->find("resourceSubscriptions");
  if (!options_.resources.empty() && uris != wanted->end() && uris->is_array()) {
    for (const auto& uri : *uris)
      if (uri.is_string()) filter.uris.insert(uri.get<std::string>());
    honored["resourceSubscriptions"] = filter.uris;
  }
  return hub_.listen(request.message.id, std::move(filter), honored, request.sink);
}

void Dispatcher::notice(const Message& message, Session& session, const MessageSink* sink) {
  if (message.kind == Message::Kind::response) {
    client_requests_.resolve(message);
    return;
  }
  if (message.method != "notifications/cancelled" || !message.params.is_object()) return;
  const auto id = message.params.find("requestId");
  if (id == message.params.end()) return;
  session.in_flight().cancel(*id);
  if (sink != nullptr) hub_.cancel(*id, *sink);
}

}  // namespace ratchet::mcp
