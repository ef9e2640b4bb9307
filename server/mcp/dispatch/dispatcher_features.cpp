// Methods of tools, prompts, resources and completions.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "server/core/hash.h"
#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/dispatch/request_interaction.h"

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostCompletions = 100;  // the protocol's limit

Json contents_of(ResourceContents contents) {
  Json item{{"uri", std::move(contents.uri)}, {"mimeType", std::move(contents.mime_type)}};
  if (contents.binary)
    item["blob"] = base64(contents.bytes);
  else
    item["text"] = std::move(contents.bytes);
  return item;
}

bool is_tool_error(const Outcome& outcome) {
  const Json* result = std::get_if<Json>(&outcome);
  return result != nullptr && result->value("isError", false);
}

std::optional<RpcError> argument_error(const Prompt& prompt, const Json& arguments) {
  if (!arguments.is_object())
    return RpcError{code::kInvalidParams, "params.arguments must be an object", {}};
  for (const auto& [name, value] : arguments.items())
    if (!value.is_string())
      return RpcError{code::kInvalidParams, "params.arguments." + name + " must be a string", {}};
  for (const auto& argument : prompt.arguments)
    if (argument.required && !arguments.contains(argument.name))
      return RpcError{code::kInvalidParams,
                      "params.arguments." + argument.name + " is missing: " + argument.description,
                      {}};
  return std::nullopt;
}

std::string scheme_of(std::string_view uri) {
  return std::string(uri.substr(0, uri.find("://")));
}

RpcError provider_error(const Error& error, Era era, const std::string& uri) {
  const std::string message =
      error.hint.empty() ? error.message : error.message + ". " + error.hint;
  if (error.code == ErrorCode::internal) return {code::kInternalError, message, {}};
  const int missing = era == Era::legacy ? code::kResourceNotFound : code::kInvalidParams;
  return {
      error.code == ErrorCode::not_found ? missing : code::kInvalidParams, message, {{"uri", uri}}};
}

std::map<std::string, std::string> other_arguments(const Json& params) {
  std::map<std::string, std::string> others;
  const Json context = params.value("context", Json::object());
  const Json arguments = context.is_object() ? context.value("arguments", Json()) : Json();
  if (arguments.is_object())
    for (const auto& [name, value] : arguments.items())
      if (value.is_string()) others.emplace(name, value.get<std::string>());
  return others;
}

const Complete* find_completion(const ServerOptions& options, const Json& reference,
                                const std::string& argument) {
  const auto type = reference.value("type", "");
  if (type == "ref/prompt") {
    for (const auto& prompt : options.prompts)
      if (prompt.name == reference.value("name", ""))
        for (const auto& known : prompt.arguments)
          if (known.name == argument) return &known.complete;
  } else if (type == "ref/resource") {
    for (const auto& provider : options.resources)
      for (const auto& known : provider.templates)
        if (known.uri_template == reference.value("uri", ""))
          if (const auto found = known.complete.find(argument); found != known.complete.end())
            return &found->second;
  }
  return nullptr;
}

}  // namespace

Dispatcher::Answer Dispatcher::interact(Request& request, const std::stop_token& stop,
                                        const std::function<Outcome(Interaction&)>& handler) {
  RequestInteraction interaction(*this, request, stop);
  if (auto error = interaction.read_retry()) return *std::move(error);
  Outcome outcome = handler(interaction);
  if (auto questions = interaction.open_questions()) outcome = *std::move(questions);
  if (auto* error = std::get_if<RpcError>(&outcome)) return std::move(*error);
  Json result = std::get<Json>(std::move(outcome));
  identity_.finish(result, request.era);
  return result;
}

Dispatcher::Answer Dispatcher::list_tools(Request& request, const std::stop_token&) {
  return page_of(tools_, request);
}

Dispatcher::Answer Dispatcher::call_tool(Request& request, const std::stop_token& stop) {
  auto name = string_param(request.message.params, "name");
  if (auto* error = std::get_if<RpcError>(&name)) return std::move(*error);
  const auto found = tool_by_name_.find(std::get<std::string>(name));
  if (found == tool_by_name_.end())
    return RpcError{code::kInvalidParams, "Unknown tool: " + std::get<std::string>(name), {}};

  const KnownTool& known = found->second;
  const auto given = request.message.params.find("arguments");
  static const Json none = Json::object();
  const Json& arguments = given == request.message.params.end() ? none : *given;
  const auto start = std::chrono::steady_clock::now();
  Answer answer = interact(request, stop, [&](Interaction& interaction) {
    Outcome outcome = known.tool->call(arguments, interaction);
    if (is_tool_error(outcome)) known.metrics->errors.fetch_add(1, std::memory_order_relaxed);
    return outcome;
  });
  const auto spent = std::chrono::steady_clock::now() - start;
  known.metrics->calls.fetch_add(1, std::memory_order_relaxed);
  known.metrics->microseconds.fetch_add(
      static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(spent).count()),
      std::memory_order_relaxed);
  return answer;
}

Dispatcher::Answer Dispatcher::list_prompts(Request& request, const std::stop_token&) {
  return page_of(prompts_, request);
}

Dispatcher::Answer Dispatcher::get_prompt(Request& request, const std::stop_token& stop) {
  auto name = string_param(request.message.params, "name");
  if (auto* error = std::get_if<RpcError>(&name)) return std::move(*error);
  const auto found = prompt_by_name_.find(std::get<std::string>(name));
  if (found == prompt_by_name_.end())
    return RpcError{code::kInvalidParams, "Unknown prompt: " + std::get<std::string>(name), {}};

  const Json arguments = request.message.params.value("arguments", Json::object());
  if (auto error = argument_error(*found->second, arguments)) return *std::move(error);
  return interact(request, stop, [&](Interaction& interaction) {
    return found->second->get(arguments, interaction);
  });
}

Dispatcher::Answer Dispatcher::list_templates(Request& request, const std::stop_token&) {
  return page_of(templates_, request);
}

Dispatcher::Answer Dispatcher::list_resources(Request& request, const std::stop_token&) {
  std::vector<Json> entries;
  for (const auto& provider : options_.resources) {
    if (!provider.list) continue;
    const auto listed = provider.list();
    if (!listed) return provider_error(listed.error(), request.era, provider.scheme + "://");
    for (const auto& resource : *listed) entries.push_back(entry_of(resource));
  }
  const PagedList list(
      "resources", [&entries] { return std::move(entries); }, options_.page_size, identity_,
      Caching{});
  return page_of(list, request);
}

Dispatcher::Answer Dispatcher::read_resource(Request& request, const std::stop_token&) {
  auto given = string_param(request.message.params, "uri");
  if (auto* error = std::get_if<RpcError>(&given)) return std::move(*error);
  const auto uri = std::get<std::string>(std::move(given));
  const auto scheme = scheme_of(uri);
  const auto provider =
      std::find_if(options_.resources.begin(), options_.resources.end(),
                   [&](const ResourceProvider& one) { return one.scheme == scheme; });
  if (provider == options_.resources.end())
    return provider_error({ErrorCode::not_found, "Resource not found: " + uri}, request.era, uri);
  auto read = provider->read(uri);
  if (!read) return provider_error(read.error(), request.era, uri);
  Json contents = Json::array();
  for (auto& one : *read) contents.push_back(contents_of(std::move(one)));
  Json result{{"contents", std::move(contents)}};
  identity_.finish(result, request.era, Caching{.ttl_ms = provider->read_ttl_ms, .shared = false});
  return result;
}

Dispatcher::Answer Dispatcher::subscribe(Request& request, const std::stop_token&) {
  auto uri = string_param(request.message.params, "uri");
  if (auto* error = std::get_if<RpcError>(&uri)) return std::move(*error);
  if (!request.session->subscribe(std::get<std::string>(std::move(uri))))
    return RpcError{code::kInvalidParams, "Too many subscriptions; unsubscribe from some", {}};
  return Json::object();
}

Dispatcher::Answer Dispatcher::unsubscribe(Request& request, const std::stop_token&) {
  auto uri = string_param(request.message.params, "uri");
  if (auto* error = std::get_if<RpcError>(&uri)) return std::move(*error);
  request.session->unsubscribe(std::get<std::string>(uri));
  return Json::object();
}

Dispatcher::Answer Dispatcher::complete(Request& request, const std::stop_token&) {
  const Json& params = request.message.params;
  const Json reference = params.is_object() ? params.value("ref", Json()) : Json();
  const Json argument = params.is_object() ? params.value("argument", Json()) : Json();
  if (!reference.is_object() || !argument.is_object())
    return RpcError{code::kInvalidParams, "params.ref and params.argument must be objects", {}};
  auto name = string_param(argument, "name");
  if (auto* error = std::get_if<RpcError>(&name)) return std::move(*error);
  auto typed = string_param(argument, "value");
  if (auto* error = std::get_if<RpcError>(&typed)) return std::move(*error);

  std::vector<std::string> values;
  const auto* completion = find_completion(options_, reference, std::get<std::string>(name));
  if (completion != nullptr && *completion)
    values = (*completion)(std::get<std::string>(typed), other_arguments(params));
  const std::size_t total = values.size();
  values.resize(std::min(total, kMostCompletions));
  Json result{
      {"completion", {{"values", values}, {"total", total}, {"hasMore", total > values.size()}}}};
  identity_.finish(result, request.era);
  return result;
}

}  // namespace ratchet::mcp
