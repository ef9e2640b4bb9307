#include "tests/support/schema_check.h"

#include <algorithm>
#include <set>

namespace ratchet::test {
namespace {

bool has_type(const Json& type, const Json& value) {
  if (type.is_array())
    return std::ranges::any_of(type, [&](const Json& one) { return has_type(one, value); });
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number() || value.is_null();
  return type == "null" && value.is_null();
}

std::string violation_of_object(const Json& schema, const Json& value, const std::string& place) {
  for (const auto& name : schema.value("required", Json::array()))
    if (!value.contains(name)) return place + ": " + name.get<std::string>() + " is missing";
  const Json properties = schema.value("properties", Json::object());
  const Json others = schema.value("additionalProperties", Json(true));
  for (const auto& [name, element] : value.items()) {
    const bool known = properties.contains(name);
    if (!known && others == false) return place + ": " + name + " is not in the schema";
    if (!known && others == true) continue;
    auto found = violation(known ? properties[name] : others, element, place + "/" + name);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string violation(const Json& schema, const Json& value, const std::string& place) {
  static const std::set<std::string> known{
      "type", "properties", "required", "additionalProperties", "items",
      "enum", "minimum",    "maximum",  "description",          "default"};
  for (const auto& [keyword, rule] : schema.items())
    if (!known.contains(keyword)) return place + ": the schema says " + keyword;
  if (schema.contains("type") && !has_type(schema["type"], value))
    return place + ": " + value.dump().substr(0, 80) + " is no " + schema["type"].dump();
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
    return place + ": " + value.dump() + " is none of " + schema["enum"].dump();
  if (value.is_number() &&
      (value < schema.value("minimum", value) || value > schema.value("maximum", value)))
    return place + ": " + value.dump() + " is out of its range";
  if (value.is_object()) return violation_of_object(schema, value, place);
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      if (auto found = violation(schema["items"], value[i], place + "/" + std::to_string(i));
          !found.empty())
        return found;
  return "";
}

}  // namespace ratchet::test
