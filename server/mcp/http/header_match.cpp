#include "server/mcp/http/header_match.h"

#include <charconv>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

RpcError mismatch(const std::string& text) {
  return {code::kHeaderMismatch, "Header mismatch: " + text, {}};
}

/// Decodes `=?base64?…?=`; returns other values as they are. Empty when the content is not base64.
std::optional<std::string> decoded(const std::string& value) {
  constexpr std::string_view kStart = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kStart) || !value.ends_with(kEnd) ||
      value.size() < kStart.size() + kEnd.size())
    return value;
  return from_base64(
      std::string_view(value).substr(kStart.size(), value.size() - kStart.size() - kEnd.size()));
}

bool same_value(const std::string& header, const Json& body) {
  if (body.is_string()) return header == body.get_ref<const std::string&>();
  if (body.is_boolean()) return header == (body.get<bool>() ? "true" : "false");
  if (!body.is_number()) return false;
  // 42 and 42.0 are the same number.
  double number = 0;
  const char* const end = header.data() + header.size();
  const auto read = std::from_chars(header.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end && number == body.get<double>();
}

std::optional<RpcError> param_error(const std::string& name, const Json* value,
                                    const HeaderLookup& header) {
  const std::string full = "Mcp-Param-" + name;
  const auto given = header(full);
  if (value == nullptr || value->is_null())
    return given ? std::optional(mismatch(full + " has no counterpart in the arguments"))
                 : std::nullopt;
  if (!given) return mismatch(full + " is missing");
  const auto plain = decoded(*given);
  if (!plain || !same_value(*plain, *value))
    return mismatch(full + " does not match the arguments");
  return std::nullopt;
}

/// Checks the properties that are reachable through `properties` alone, as the specification says.
std::optional<RpcError> params_error(const Json& schema, const Json* arguments,
                                     const HeaderLookup& header) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return std::nullopt;
  for (const auto& [key, property] : properties->items()) {
    if (!property.is_object()) continue;
    const bool there = arguments != nullptr && arguments->is_object() && arguments->contains(key);
    const Json* value = there ? &arguments->at(key) : nullptr;
    if (const auto name = property.find("x-mcp-header");
        name != property.end() && name->is_string())
      if (auto error = param_error(name->get<std::string>(), value, header)) return error;
    if (auto error = params_error(property, value, header)) return error;
  }
  return std::nullopt;
}

/// The member of `params` that Mcp-Name must equal; empty for methods without one.
std::string named_by(const std::string& method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  const bool on_task =
      method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel";
  return on_task ? "taskId" : "";
}

}  // namespace

std::optional<RpcError> header_mismatch(const Message& message, const HeaderLookup& header,
                                        const Json* schema) {
  const auto method = header("Mcp-Method");
  if (!method) return mismatch("Mcp-Method is missing");
  if (*method != message.method) return mismatch("Mcp-Method does not match the method");

  const std::string member = named_by(message.method);
  if (member.empty()) return std::nullopt;
  const auto name = header("Mcp-Name");
  if (!name) return mismatch("Mcp-Name is missing");
  const auto plain = decoded(*name);
  const Json& params = message.params;
  const auto wanted = params.find(member);
  if (!plain || wanted == params.end() || *wanted != *plain)
    return mismatch("Mcp-Name does not match the body");
  if (schema == nullptr) return std::nullopt;
  const auto arguments = params.find("arguments");
  return params_error(*schema, arguments == params.end() ? nullptr : &*arguments, header);
}

}  // namespace ratchet::mcp
