#include "server/core/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "server/core/nearest.h"

namespace ratchet::fields_detail {
namespace {

const void* member_of(const FieldRow& row, const void* record) {
  return static_cast<const char*>(record) + row.offset;
}

Error missing(const Place& place, const FieldRow& row) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is required and was not given", place.field(row.name).path),
          std::string(row.description)};
}

Error unknown_key(const FieldTable& table, const Place& place, const std::string& key) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  const auto known = fmt::format("{}", fmt::join(names, ", "));
  const auto meant = nearest(key, names);
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is not a known field", place.field(key.substr(0, kShownBytes)).path),
          meant.empty() ? fmt::format("Known fields: {}.", known)
                        : fmt::format("Did you mean {}? Known fields: {}.", meant, known)};
}

std::string first_unknown(const FieldTable& table, const Json& json) {
  for (const auto& [key, element] : json.items())
    if (std::ranges::find(table, key, &FieldRow::name) == table.end()) return key;
  return "";
}

}  // namespace

Json record_schema(const FieldTable& table, const void* initial) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& row : table) {
    Json property = row.schema(row.rules);
    if (!row.description.empty()) property["description"] = row.description;
    if (row.required) required.push_back(row.name);
    // A flag that may be left out is off.
    if (row.shows_default)
      if (Json value = row.encode(member_of(row, initial)); value != false)
        property["default"] = std::move(value);
    if (row.marks_foreign) properties[kUntrusted] = {{"type", "boolean"}};
    properties[std::string(row.name)] = std::move(property);
  }
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json encode_record(const FieldTable& table, const void* record) {
  Json object = Json::object();
  for (const auto& row : table) {
    const void* member = member_of(row, record);
    if (row.is_empty != nullptr && row.is_empty(member)) continue;
    object[std::string(row.name)] = row.encode(member);
    if (row.marks_foreign) object[kUntrusted] = true;
  }
  return object;
}

Status decode_record(const FieldTable& table, const Json& json, const Place& place, void* record) {
  if (!json.is_object()) return wrong_type(place, "an object", json);
  std::size_t used = 0;
  for (const auto& row : table) {
    if (row.marks_foreign && json.contains(kUntrusted)) ++used;
    const auto found = json.find(row.name);
    if (found == json.end()) {
      if (row.required && row.is_empty == nullptr) return missing(place, row);
      continue;
    }
    ++used;
    // A client that sends null for a field it leaves out means "not given".
    if (found->is_null() && !row.required) continue;
    void* member = static_cast<char*>(record) + row.offset;
    if (auto read = row.decode(*found, place.field(row.name), row.rules, member); !read)
      return read;
  }
  if (place.strictness == Strictness::strict && used != json.size())
    return unknown_key(table, place, first_unknown(table, json));
  return {};
}

}  // namespace ratchet::fields_detail
