#pragma once

// How single values become JSON and back: the base of fields.h.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/core/field.h"
#include "server/core/units.h"

namespace ratchet {

template <class T>
struct Codec;

template <class T>
concept HasFields = requires { T::fields(fields_detail::Ignore{}); };

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { enum_names(E{}); };

/// The wire name of an enum value.
template <NamedEnum E>
std::string_view name_of(E value) {
  for (const auto& [candidate, name] : enum_names(E{}))
    if (candidate == value) return name;
  return "?";
}

template <class T>
[[nodiscard]] Json encode(const T& value) {
  return Codec<T>::encode(value);
}

template <class T>
[[nodiscard]] Result<T> decode(const Json& json, const Place& place = {},
                               const Rules& rules = fields_detail::kNoRules) {
  return Codec<T>::decode(json, place, rules);
}

/// Reads a payload that this program wrote itself: unknown keys are ignored.
template <class T>
[[nodiscard]] Result<T> decode_stored(const Json& json) {
  return Codec<T>::decode(json, Place{"", Strictness::tolerant}, fields_detail::kNoRules);
}

template <class T>
[[nodiscard]] Json schema_of() {
  return Codec<T>::schema(fields_detail::kNoRules);
}

template <>
struct Codec<bool> {
  static Json schema(const Rules&) { return {{"type", "boolean"}}; }
  static Json encode(bool value) { return value; }
  static Result<bool> decode(const Json& json, const Place& place, const Rules&) {
    if (!json.is_boolean()) return fields_detail::wrong_type(place, "true or false", json);
    return json.get<bool>();
  }
};

template <std::integral T>
  requires(!std::same_as<T, bool>)
struct Codec<T> {
  static Json schema(const Rules& rules) {
    Json schema{{"type", "integer"}};
    fields_detail::add_bounds(schema, rules, true);
    return schema;
  }
  static Json encode(T value) { return value; }
  static Result<T> decode(const Json& json, const Place& place, const Rules& rules) {
    // JSON Schema calls 3.0 an integer, and some clients send it.
    const bool whole =
        json.is_number_integer() ||
        (json.is_number_float() && std::trunc(json.get<double>()) == json.get<double>());
    if (!whole) return fields_detail::wrong_type(place, "an integer", json);
    const double wide = json.get<double>();
    // Compared as double: the limits of 64-bit types round outwards, so the edge is excluded.
    const bool fits = wide >= static_cast<double>(std::numeric_limits<T>::min()) &&
                      (sizeof(T) < 8 ? wide <= static_cast<double>(std::numeric_limits<T>::max())
                                     : wide < static_cast<double>(std::numeric_limits<T>::max()));
    if (!fits || wide < rules.min || wide > rules.max)
      return fields_detail::out_of_range(place, rules, json.dump());
    return json.is_number_float() ? static_cast<T>(wide) : json.get<T>();
  }
};

template <>
struct Codec<double> {
  static Json schema(const Rules& rules) {
    Json schema{{"type", "number"}};
    fields_detail::add_bounds(schema, rules, false);
    return schema;
  }
  /// JSON has no infinities and no NaN: they are written as null.
  static Json encode(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  static Result<double> decode(const Json& json, const Place& place, const Rules& rules) {
    if (json.is_null() && place.strictness == Strictness::tolerant)
      return std::numeric_limits<double>::quiet_NaN();
    if (!json.is_number()) return fields_detail::wrong_type(place, "a number", json);
    const auto value = json.get<double>();
    if (!(value >= rules.min && value <= rules.max))
      return fields_detail::out_of_range(place, rules, json.dump());
    return value;
  }
};

template <>
struct Codec<std::string> {
  static Json schema(const Rules&) { return {{"type", "string"}}; }
  static Json encode(const std::string& value) { return value; }
  static Result<std::string> decode(const Json& json, const Place& place, const Rules& rules) {
    if (!json.is_string()) return fields_detail::wrong_type(place, "a string", json);
    const auto& text = json.get_ref<const std::string&>();
    const auto limit = rules.max_length ? rules.max_length : kDefaultMaxLength;
    if (text.size() > limit) return fields_detail::too_long(place, limit, text.size());
    if (text.find('\0') != std::string::npos)
      return Error{ErrorCode::invalid_argument, place.path + ": must not contain NUL bytes", ""};
    return text;
  }
};

/// An object of any form, passed through.
template <>
struct Codec<Json> {
  static Json schema(const Rules&) { return {{"type", "object"}}; }
  static Json encode(const Json& value) { return value; }
  static Result<Json> decode(const Json& json, const Place& place, const Rules&) {
    if (!json.is_object()) return fields_detail::wrong_type(place, "an object", json);
    return json;
  }
};

template <>
struct Codec<RunId> {
  static Json schema(const Rules&) { return {{"type", "string"}}; }
  static Json encode(const RunId& value) { return value.text; }
  static Result<RunId> decode(const Json& json, const Place& place, const Rules& rules) {
    auto text = Codec<std::string>::decode(json, place, rules);
    if (!text) return text.error();
    return RunId{*std::move(text)};
  }
};

template <>
struct Codec<VersionId> {
  static Json schema(const Rules&) { return {{"type", "string"}}; }
  static Json encode(const VersionId& value) { return value.text(); }
  static Result<VersionId> decode(const Json& json, const Place& place, const Rules&);
};

template <class Unit, class Rep>
struct Codec<Quantity<Unit, Rep>> {
  using Q = Quantity<Unit, Rep>;
  static Json schema(const Rules& rules) { return Codec<Rep>::schema(rules); }
  static Json encode(const Q& value) { return Codec<Rep>::encode(value.value); }
  static Result<Q> decode(const Json& json, const Place& place, const Rules& rules) {
    auto number = Codec<Rep>::decode(json, place, rules);
    if (!number) return number.error();
    return Q{*number};
  }
};

template <NamedEnum E>
struct Codec<E> {
  static Json schema(const Rules&) {
    Json names = Json::array();
    for (const auto& [value, name] : enum_names(E{})) names.push_back(name);
    return {{"type", "string"}, {"enum", std::move(names)}};
  }
  static Json encode(E value) { return name_of(value); }
  static Result<E> decode(const Json& json, const Place& place, const Rules&) {
    if (!json.is_string()) return fields_detail::wrong_type(place, "a string", json);
    const auto& text = json.get_ref<const std::string&>();
    std::vector<std::string> accepted;
    for (const auto& [value, name] : enum_names(E{})) {
      if (text == name) return value;
      accepted.emplace_back(name);
    }
    return fields_detail::unknown_value(place, accepted, text);
  }
};

}  // namespace ratchet
