#include "server/core/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ratchet::fields_detail {
namespace {

const void* member_of(const FieldRow& row, const void* record) {
  return static_cast<const char*>(record) + row.offset;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row.back();
}

Error missing(const Place& place, const FieldRow& row) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is required and was not given", place.field(row.name).path),
          std::string(row.description)};
}

Error unknown_key(const FieldTable& table, const Place& place, const std::string& key) {
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(3, key.size() / 2);
  std::string known;
  for (const auto& row : table) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
    const auto distance = edit_distance(key, row.name);
    if (distance >= best) continue;
    best = distance;
    nearest = row.name;
  }
  return {ErrorCode::invalid_argument,
          fmt::format("{}: is not a known field", place.field(key.substr(0, kShownBytes)).path),
          nearest.empty() ? fmt::format("Known fields: {}.", known)
                          : fmt::format("Did you mean {}? Known fields: {}.", nearest, known)};
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
    if (row.shows_default) property["default"] = row.encode(member_of(row, initial));
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
