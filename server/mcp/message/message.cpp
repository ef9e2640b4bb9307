#include "server/mcp/message/message.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/mcp/message/strict_json.h"

namespace ratchet::mcp {
namespace {

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Compares without constructing a Json from `text`.
bool is_text(const Json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

Malformed malformed(int code, std::string message, Json id = nullptr) {
  return {std::move(id), {code, std::move(message), nullptr}};
}

Malformed malformed(JsonFault fault) {
  switch (fault) {
    case JsonFault::too_deep:
      return malformed(code::kInvalidRequest, "the message is nested deeper than 128 levels");
    case JsonFault::repeated_name:
      return malformed(code::kInvalidRequest, "a name occurs twice in one object");
    case JsonFault::syntax:
      break;
  }
  return malformed(code::kParseError, "the message is not valid JSON in UTF-8");
}

std::optional<Malformed> envelope_error(const Json& json, const Json& id) {
  const auto version = json.find("jsonrpc");
  if (version == json.end() || !is_text(*version, "2.0"))
    return malformed(code::kInvalidRequest, "jsonrpc must be \"2.0\"", id);
  const auto params = json.find("params");
  if (params != json.end() && !params->is_object())
    return malformed(code::kInvalidRequest, "params must be an object", id);
  return std::nullopt;
}

std::variant<Message, Malformed> read_envelope(Json json) {
  if (json.is_array())
    return malformed(code::kInvalidRequest,
                     "batches are not supported; send one message at a time");
  if (!json.is_object()) return malformed(code::kInvalidRequest, "a message must be an object");

  Message message;
  const auto id = json.find("id");
  if (id != json.end()) {
    if (!is_id(*id)) return malformed(code::kInvalidRequest, "id must be a string or an integer");
    message.id = *id;
  }
  if (auto error = envelope_error(json, message.id)) return *std::move(error);

  const auto method = json.find("method");
  if (method == json.end()) {
    if (message.id.is_null() || json.contains("result") == json.contains("error"))
      return malformed(code::kInvalidRequest, "a message needs a method, or an id and a result",
                       message.id);
    message.kind = Message::Kind::response;
    message.outcome = std::move(json);
    return message;
  }
  if (!method->is_string())
    return malformed(code::kInvalidRequest, "method must be a string", message.id);
  message.kind = message.id.is_null() ? Message::Kind::notification : Message::Kind::request;
  message.method = std::move(method->get_ref<std::string&>());
  if (const auto params = json.find("params"); params != json.end())
    message.params = std::move(*params);
  return message;
}

/// `{"jsonrpc":"2.0","id":…,"<member>":` — the id comes first, where a reader finds it quickly.
std::string opening(const Json& id, std::string_view member, std::size_t room) {
  std::string text;
  text.reserve(room + 64);
  text += R"({"jsonrpc":"2.0","id":)";
  text += id_text(id);
  text += ",\"";
  text += member;
  text += "\":";
  return text;
}

}  // namespace

bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) !=
         kLegacyVersions.end();
}

std::variant<Message, Malformed> decode_message(std::string_view text) {
  if (text.size() > kMessageLimit)
    return malformed(code::kInvalidRequest, "the message is larger than 16 MiB");
  auto parsed = parse_strictly(text, kDepthLimit);
  if (const auto* fault = std::get_if<JsonFault>(&parsed)) return malformed(*fault);
  return read_envelope(std::get<Json>(std::move(parsed)));
}

std::string id_text(const Json& id) {
  // Constructing a serializer costs more than writing digits, and nearly every id is a number.
  if (id.is_number_unsigned()) return std::to_string(id.get<Json::number_unsigned_t>());
  return dumped(id);
}

std::string result_text(const Json& id, const Json& result) {
  return serialized_result_text(id, dumped(result));
}

std::string serialized_result_text(const Json& id, std::string_view result) {
  std::string text = opening(id, "result", result.size());
  text += result;
  text += '}';
  return text;
}

std::string error_text(const Json& id, const RpcError& error) {
  Json body{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  std::string text = opening(id, "error", 128);
  text += dumped(body);
  text += '}';
  return text;
}

std::string notification_text(std::string_view method, const Json& params) {
  return dumped(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

std::string request_text(const Json& id, std::string_view method, const Json& params) {
  Json message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) message["params"] = params;
  return dumped(message);
}

}  // namespace ratchet::mcp
