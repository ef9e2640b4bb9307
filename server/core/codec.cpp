#include "server/core/codec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace ratchet {

Place Place::field(std::string_view name) const {
  return {path.empty() ? std::string(name) : fmt::format("{}.{}", path, name), strictness};
}

Place Place::element(std::size_t index) const {
  return {fmt::format("{}[{}]", path, index), strictness};
}

namespace fields_detail {
namespace {

std::string shown(const Json& value) {
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

std::string named(const Place& place) {
  return place.path.empty() ? "arguments" : place.path;
}

Error invalid(const Place& place, std::string_view rule, std::string_view seen) {
  return {ErrorCode::invalid_argument, fmt::format("{}: {}, got {}", named(place), rule, seen)};
}

Error out_of_range(const Place& place, const Rules& rules, const std::string& seen) {
  std::string rule = "must be in the range of its type";
  if (std::isfinite(rules.min) && std::isfinite(rules.max))
    rule = fmt::format("must be between {} and {}", rules.min, rules.max);
  else if (std::isfinite(rules.min))
    rule = fmt::format("must be at least {}", rules.min);
  else if (std::isfinite(rules.max))
    rule = fmt::format("must be at most {}", rules.max);
  return invalid(place, rule, seen);
}

Status check_length(const Place& place, const Rules& rules, std::size_t seen) {
  const auto limit = rules.max_length ? rules.max_length : kDefaultMaxLength;
  if (seen <= limit) return {};
  return Error{ErrorCode::too_large,
               fmt::format("{}: must have at most {} characters or entries, got {}", named(place),
                           limit, seen)};
}

void add_bounds(Json& schema, const Rules& rules, bool integer) {
  const auto bound = [integer](double value) {
    return integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  if (std::isfinite(rules.min)) schema["minimum"] = bound(rules.min);
  if (std::isfinite(rules.max)) schema["maximum"] = bound(rules.max);
}

}  // namespace

Error wrong_type(const Place& place, std::string_view expected, const Json& seen) {
  return invalid(place, fmt::format("must be {}", expected), shown(seen));
}

Status check_list(const Json& json, const Place& place, const Rules& rules) {
  if (!json.is_array()) return wrong_type(place, "a list", json);
  return check_length(place, rules, json.size());
}

Json integer_schema(const Rules& rules) {
  Json schema{{"type", "integer"}};
  add_bounds(schema, rules, true);
  return schema;
}

Result<std::int64_t> read_integer(const Json& json, const Place& place, const Rules& rules,
                                  double lowest, double highest, bool wide) {
  // JSON Schema calls 3.0 an integer, and some clients send it.
  const bool whole =
      json.is_number_integer() ||
      (json.is_number_float() && std::trunc(json.get<double>()) == json.get<double>());
  if (!whole) return wrong_type(place, "an integer", json);
  const double number = json.get<double>();
  // Compared as double: the limits of 64-bit types round outwards, so the edge is excluded.
  const bool fits = number >= lowest && (wide ? number < highest : number <= highest);
  if (!fits || number < rules.min || number > rules.max)
    return out_of_range(place, rules, json.dump());
  if (!json.is_number_float()) return json.get<std::int64_t>();
  return number < 0 ? static_cast<std::int64_t>(number)
                    : static_cast<std::int64_t>(static_cast<std::uint64_t>(number));
}

Json enum_schema(std::span<const std::string_view> names) {
  return {{"type", "string"}, {"enum", Json(std::vector<std::string>(names.begin(), names.end()))}};
}

Result<std::size_t> read_enum(const Json& json, const Place& place,
                              std::span<const std::string_view> names) {
  if (!json.is_string()) return wrong_type(place, "a string", json);
  const auto& text = json.get_ref<const std::string&>();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return i;
  return invalid(place, fmt::format("must be one of {}", fmt::join(names, ", ")), shown(json));
}

}  // namespace fields_detail

using fields_detail::wrong_type;

Json Codec<bool>::schema(const Rules& /*rules*/) {
  return {{"type", "boolean"}};
}

Json Codec<bool>::encode(bool value) {
  return value;
}

Status Codec<bool>::decode(const Json& json, const Place& place, const Rules& /*rules*/,
                           bool& value) {
  if (!json.is_boolean()) return wrong_type(place, "true or false", json);
  value = json.get<bool>();
  return {};
}

Json Codec<double>::schema(const Rules& rules) {
  Json schema{{"type", "number"}};
  fields_detail::add_bounds(schema, rules, false);
  return schema;
}

Json Codec<double>::encode(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Status Codec<double>::decode(const Json& json, const Place& place, const Rules& rules,
                             double& value) {
  if (json.is_null() && place.strictness == Strictness::tolerant) {
    value = std::numeric_limits<double>::quiet_NaN();
    return {};
  }
  if (!json.is_number()) return wrong_type(place, "a number", json);
  value = json.get<double>();
  if (!(value >= rules.min && value <= rules.max))
    return fields_detail::out_of_range(place, rules, json.dump());
  return {};
}

Json Codec<std::string>::schema(const Rules& /*rules*/) {
  return {{"type", "string"}};
}

Json Codec<std::string>::encode(const std::string& value) {
  return value;
}

Status Codec<std::string>::decode(const Json& json, const Place& place, const Rules& rules,
                                  std::string& value) {
  if (!json.is_string()) return wrong_type(place, "a string", json);
  const auto& text = json.get_ref<const std::string&>();
  if (auto fits = fields_detail::check_length(place, rules, text.size()); !fits) return fits;
  if (text.find('\0') != std::string::npos)
    return invalid_argument(place.path + ": must not contain NUL bytes");
  value = text;
  return {};
}

Json Codec<Json>::schema(const Rules& /*rules*/) {
  return {{"type", "object"}};
}

Status Codec<Json>::decode(const Json& json, const Place& place, const Rules& /*rules*/,
                           Json& value) {
  if (!json.is_object()) return wrong_type(place, "an object", json);
  value = json;
  return {};
}

Status Codec<VersionId>::decode(const Json& json, const Place& place, const Rules& /*rules*/,
                                VersionId& value) {
  const auto refuse = [&] {
    return invalid_argument(fmt::format("{}: must be a version such as \"v0\" or \"v12\", got {}",
                                        place.path, json.dump()),
                            "run_status lists the versions of a run.");
  };
  if (!json.is_string()) return refuse();
  const auto& text = json.get_ref<const std::string&>();
  // "v08" is refused: it is not the name of any version and sorts wrongly.
  if (text.size() < 2 || text[0] != 'v' || (text[1] == '0' && text.size() > 2)) return refuse();
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + 1, end, value.number);
  if (code != std::errc{} || stop != end || value.number < 0) return refuse();
  return {};
}

}  // namespace ratchet
