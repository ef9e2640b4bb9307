#include "server/mcp/dispatch/dispatcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

namespace ratchet::mcp {
namespace {

const Json& null_json() {
  static const Json null;
  return null;
}

template <class Entries>
std::vector<Json> entries_of(const Entries& values) {
  std::vector<Json> entries;
  entries.reserve(values.size());
  for (const auto& value : values) entries.push_back(entry_of(value));
  return entries;
}

std::vector<Json> tool_entries(const ServerOptions& options) {
  std::vector<Json> entries;
  entries.reserve(options.tools.size());
  for (const auto& tool : options.tools) entries.push_back(tool.entry());
  return entries;
}

std::vector<Json> template_entries(const ServerOptions& options) {
  std::vector<Json> entries;
  for (const auto& provider : options.resources)
    for (const auto& resource_template : provider.templates)
      entries.push_back(entry_of(resource_template));
  return entries;
}

RpcError unsupported_version(const Json& requested) {
  return {code::kUnsupportedVersion,
          "Unsupported protocol version",
          {{"supported", Json::array({kStatelessVersion})}, {"requested", requested}}};
}

}  // namespace

const Json& Request::meta() const {
  if (!message.params.is_object()) return null_json();
  const auto found = message.params.find("_meta");
  return found == message.params.end() ? null_json() : *found;
}

bool Request::declares(std::string_view extension) const {
  if (era == Era::legacy) return false;
  const auto declared = meta().find(key::kClientCapabilities);
  if (declared == meta().end() || !declared->is_object()) return false;
  const auto extensions = declared->find("extensions");
  return extensions != declared->end() && extensions->contains(extension);
}

std::variant<std::string, RpcError> string_param(const Json& params, std::string_view name) {
  if (params.is_object())
    if (const auto found = params.find(name); found != params.end() && found->is_string())
      return found->get<std::string>();
  return RpcError{code::kInvalidParams, "params." + std::string(name) + " must be a string", {}};
}

Dispatcher::Dispatcher(ServerOptions options)
    : options_(std::move(options)),
      identity_(options_.name, options_.title, options_.version),
      tools_(
          "tools", [this] { return tool_entries(options_); }, options_.page_size, identity_,
          kStatic),
      prompts_(
          "prompts", [this] { return entries_of(options_.prompts); }, options_.page_size, identity_,
          kStatic),
      templates_(
          "resourceTemplates", [this] { return template_entries(options_); }, options_.page_size,
          identity_, kStatic),
      skills_(
          "skills", [this] { return entries_of(options_.skills); }, options_.page_size, identity_,
          kStatic) {
  add_methods();
  for (const auto& tool : options_.tools)
    tool_by_name_[tool.name] = {&tool, &metrics_.add_tool(tool.name)};
  for (const auto& prompt : options_.prompts) prompt_by_name_[prompt.name] = &prompt;
}

void Dispatcher::add_methods() {
  using D = Dispatcher;
  methods_["initialize"] = {&D::initialize, nullptr};
  methods_["ping"] = {&D::ping, nullptr};
  methods_["logging/setLevel"] = {&D::set_log_level, nullptr};
  methods_["server/discover"] = {nullptr, &D::discover};
  methods_["tools/list"] = {&D::list_tools, &D::list_tools};
  methods_["tools/call"] = {&D::call_tool, &D::call_tool};
  if (!options_.prompts.empty()) {
    methods_["prompts/list"] = {&D::list_prompts, &D::list_prompts};
    methods_["prompts/get"] = {&D::get_prompt, &D::get_prompt};
  }
  if (!options_.resources.empty()) {
    methods_["resources/list"] = {&D::list_resources, &D::list_resources};
    methods_["resources/templates/list"] = {&D::list_templates, &D::list_templates};
    methods_["resources/read"] = {&D::read_resource, &D::read_resource};
    methods_["resources/subscribe"] = {&D::subscribe, nullptr};
    methods_["resources/unsubscribe"] = {&D::unsubscribe, nullptr};
  }
  if (options_.jobs) {
    methods_["tasks/get"] = {nullptr, &D::get_task};
    methods_["tasks/update"] = {nullptr, &D::update_task};
    methods_["tasks/cancel"] = {nullptr, &D::cancel_task};
  }
  if (!options_.skills.empty()) {
    methods_["skills/list"] = {&D::list_skills, &D::list_skills};
    methods_["skills/get"] = {&D::get_skill, &D::get_skill};
  }
  if (!options_.prompts.empty() || !options_.resources.empty())
    methods_["completion/complete"] = {&D::complete, &D::complete};
}

Json Dispatcher::capabilities(Era era) const {
  Json all{{"tools", {{"listChanged", options_.lists_change}}}};
  if (!options_.prompts.empty()) all["prompts"] = {{"listChanged", options_.lists_change}};
  if (!options_.resources.empty()) all["resources"] = {{"subscribe", true}, {"listChanged", true}};
  if (methods_.contains("completion/complete")) all["completions"] = Json::object();
  if (era == Era::legacy) all["logging"] = Json::object();
  if (Json ours = extensions(); era == Era::stateless && !ours.empty())
    all["extensions"] = std::move(ours);
  return all;
}

std::variant<Request, Reply> Dispatcher::admit(Message message, const Arrival& arrival,
                                               std::shared_ptr<Session> session) const {
  Request request{std::move(message), Era::legacy, std::move(session), nullptr};
  const Json& meta = request.meta();
  const bool claims = meta.is_object() && meta.contains(key::kProtocolVersion);
  // A version header that is not a legacy one means the stateless era, too: the error then says
  // what
  // `_meta` lacks.
  const bool header_claims = arrival.version_header && !is_legacy_version(*arrival.version_header);
  if (claims || header_claims || request.message.method == "server/discover")
    request.era = Era::stateless;

  if (auto error = envelope_error(request, arrival))
    return refusal(request.message.id, *error, request.era);
  if (request.message.method != "subscriptions/listen" || request.era == Era::legacy) {
    if (handler_of(request) == nullptr)
      return refusal(request.message.id,
                     {code::kMethodNotFound, "Method not found: " + request.message.method, {}},
                     request.era);
  }
  return request;
}

std::optional<RpcError> Dispatcher::envelope_error(const Request& request,
                                                   const Arrival& arrival) const {
  const Json& meta = request.meta();
  if (!meta.is_null() && !meta.is_object())
    return RpcError{code::kInvalidParams, "params._meta must be an object", {}};
  if (request.era == Era::legacy) return std::nullopt;

  const auto claim = meta.find(key::kProtocolVersion);
  if (claim == meta.end() || !claim->is_string()) {
    if (arrival.version_header && *arrival.version_header != kStatelessVersion &&
        !is_legacy_version(*arrival.version_header))
      return unsupported_version(*arrival.version_header);
    return RpcError{
        code::kInvalidParams, "params._meta must hold " + std::string(key::kProtocolVersion), {}};
  }
  if (arrival.http &&
      (!arrival.version_header || *arrival.version_header != claim->get_ref<const std::string&>()))
    return RpcError{code::kHeaderMismatch,
                    "Header mismatch: MCP-Protocol-Version must be given and equal the version in "
                    "params._meta",
                    {}};
  if (claim->get_ref<const std::string&>() != kStatelessVersion) return unsupported_version(*claim);
  const auto can = meta.find(key::kClientCapabilities);
  if (can == meta.end() || !can->is_object())
    return RpcError{code::kInvalidParams,
                    "params._meta must hold " + std::string(key::kClientCapabilities),
                    {}};
  return std::nullopt;
}

Dispatcher::Handler Dispatcher::handler_of(const Request& request) const {
  const auto found = methods_.find(request.message.method);
  if (found == methods_.end()) return nullptr;
  return request.era == Era::legacy ? found->second.legacy : found->second.stateless;
}

Dispatcher::Cost Dispatcher::cost(const Request& request) const {
  const auto& method = request.message.method;
  if (request.era == Era::stateless && method == "subscriptions/listen") return Cost::listens;
  if (method != "tools/call") return method == "prompts/get" ? Cost::slow : Cost::quick;
  const Json& params = request.message.params;
  if (!params.is_object()) return Cost::quick;
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) return Cost::quick;
  const auto known = tool_by_name_.find(name->get_ref<const std::string&>());
  if (known == tool_by_name_.end() || known->second.tool->effect == Effect::reads)
    return Cost::quick;
  return known->second.tool->only_waits ? Cost::waits : Cost::slow;
}

Reply Dispatcher::busy(const Request& request) {
  const RpcError error{code::kBusy,
                       "The server is busy: too many calls wait already. Nothing was done; try "
                       "again when some of them have ended.",
                       {}};
  return {error_text(request.message.id, error), error.code, false, request.era};
}

std::optional<Reply> Dispatcher::serve(Request& request, std::stop_token disconnected) {
  InFlight::Entry entry(request.session->in_flight(), request.message.id);
  const std::stop_callback on_disconnect(std::move(disconnected),
                                         [&entry] { entry.stop().request_stop(); });
  const std::stop_token stop = entry.stop().get_token();
  metrics_.calls_in_flight.fetch_add(1, std::memory_order_relaxed);
  Answer answer = RpcError{code::kInternalError, "Internal error", {}};
  try {
    if (const Handler handler = handler_of(request)) answer = (this->*handler)(request, stop);
  } catch (const std::exception& failure) {
    // A bug in the server. Its text may hold private data, so it is logged and not sent.
    spdlog::error("{} failed: {}", request.message.method, failure.what());
  }
  metrics_.calls_in_flight.fetch_sub(1, std::memory_order_relaxed);
  if (stop.stop_requested()) return std::nullopt;

  const Json& id = request.message.id;
  if (auto* error = std::get_if<RpcError>(&answer))
    return Reply{error_text(id, *error), error->code, false, request.era};
  if (auto* text = std::get_if<std::string>(&answer))
    return Reply{serialized_result_text(id, *text), 0, false, request.era};
  return Reply{result_text(id, std::get<Json>(answer)), 0, false, request.era};
}

const Json* Dispatcher::input_schema(const std::string& tool) const {
  const auto known = tool_by_name_.find(tool);
  return known == tool_by_name_.end() ? nullptr : known->second.tool->input_schema.get();
}

}  // namespace ratchet::mcp
