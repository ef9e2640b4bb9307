#pragma once

// One declaration per struct: a list of fields drives the parser, the JSON Schema, the encoder
// and the docs. A struct takes part by offering
//
//   static constexpr auto fields() {
//     return std::tuple{required("run", &Args::run, "Run id that create_run returned."),
//                       optional("limit", &Args::limit, "Most rows.", {.min = 1, .max = 50})};
//   }
//
// and an enum by a free function `constexpr auto enum_names(E)` beside it that returns an array of
// {value, name} pairs. Everything here is pure and thread-safe.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/core/result.h"
#include "server/core/units.h"

namespace ratchet {

using Json = nlohmann::json;

/// Bounds of a field. Numbers: `min`..`max` inclusive. Strings and lists: length up to `max_length`
/// (bytes, elements); 0 means the default cap of `kDefaultMaxLength`.
struct Rules {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::size_t max_length = 0;
};

inline constexpr std::size_t kDefaultMaxLength = std::size_t{4} << 20U;

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::* member;
  std::string_view description;  ///< one sentence, with the unit
  bool required;
  Rules rules;
};

template <class Struct, class Member>
constexpr auto required(std::string_view name, Member Struct::* member,
                        std::string_view description, Rules rules = {}) {
  return Field<Struct, Member>{name, member, description, true, rules};
}

/// May be left out. Its default is the member's initial value; `std::optional` members have none.
template <class Struct, class Member>
constexpr auto optional(std::string_view name, Member Struct::* member,
                        std::string_view description, Rules rules = {}) {
  return Field<Struct, Member>{name, member, description, false, rules};
}

/// How strictly `decode` reads. Arguments from outside are strict; our own stored payloads are not,
/// so that a newer writer's extra fields do no harm.
enum class Strictness { strict, tolerant };

/// Where a value stands, for messages: "cases[2].dims".
struct Place {
  std::string path;
  Strictness strictness = Strictness::strict;

  [[nodiscard]] Place field(std::string_view name) const;
  [[nodiscard]] Place element(std::size_t index) const;
};

/// One filter value or several: `"wiki"` and `["wiki", "prs"]` both parse.
template <class T>
struct OneOrMany {
  std::vector<T> values;
};

namespace fields_detail {
Error wrong_type(const Place& place, std::string_view expected, const Json& seen);
Error out_of_range(const Place& place, const Rules& rules, const std::string& seen);
Error too_long(const Place& place, std::size_t limit, std::size_t seen);
Error unknown_value(const Place& place, const std::vector<std::string>& accepted,
                    const std::string& seen);
Error missing(const Place& place, std::string_view name, std::string_view description);
Error unknown_key(const Place& place, const std::string& key,
                  const std::vector<std::string>& accepted);
void add_bounds(Json& schema, const Rules& rules, bool integer);
inline constexpr Rules kNoRules{};
}  // namespace fields_detail

template <class T>
struct Codec;

template <class T>
concept HasFields = requires { T::fields(); };

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

/// Any JSON value, passed through.
template <>
struct Codec<Json> {
  static Json schema(const Rules&) { return Json::object(); }
  static Json encode(const Json& value) { return value; }
  static Result<Json> decode(const Json& json, const Place&, const Rules&) { return json; }
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

template <class T>
struct Codec<std::optional<T>> {
  static Json schema(const Rules& rules) { return Codec<T>::schema(rules); }
  static Json encode(const std::optional<T>& value) {
    return value ? Codec<T>::encode(*value) : Json(nullptr);
  }
  static Result<std::optional<T>> decode(const Json& json, const Place& place, const Rules& rules) {
    if (json.is_null()) return std::optional<T>{};
    auto value = Codec<T>::decode(json, place, rules);
    if (!value) return value.error();
    return std::optional<T>{*std::move(value)};
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Json schema(const Rules&) {
    return {{"type", "array"}, {"items", Codec<T>::schema(fields_detail::kNoRules)}};
  }
  static Json encode(const std::vector<T>& values) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(Codec<T>::encode(value));
    return array;
  }
  static Result<std::vector<T>> decode(const Json& json, const Place& place, const Rules& rules) {
    if (!json.is_array()) return fields_detail::wrong_type(place, "a list", json);
    const auto limit = rules.max_length ? rules.max_length : kDefaultMaxLength;
    if (json.size() > limit) return fields_detail::too_long(place, limit, json.size());
    std::vector<T> values;
    values.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      auto value = Codec<T>::decode(json[i], place.element(i), fields_detail::kNoRules);
      if (!value) return value.error();
      values.push_back(*std::move(value));
    }
    return values;
  }
};

template <class T>
struct Codec<OneOrMany<T>> {
  static Json schema(const Rules& rules) {
    // One type list instead of anyOf: some clients drop tools whose schemas use combinators.
    Json one = Codec<T>::schema(rules);
    Json schema = one;
    schema["type"] = Json::array({one["type"], "array"});
    schema["items"] = one;
    schema.erase("enum");
    return schema;
  }
  static Json encode(const OneOrMany<T>& values) {
    return Codec<std::vector<T>>::encode(values.values);
  }
  static Result<OneOrMany<T>> decode(const Json& json, const Place& place, const Rules& rules) {
    if (json.is_array()) {
      auto values = Codec<std::vector<T>>::decode(json, place, rules);
      if (!values) return values.error();
      return OneOrMany<T>{*std::move(values)};
    }
    auto value = Codec<T>::decode(json, place, rules);
    if (!value) return value.error();
    return OneOrMany<T>{{*std::move(value)}};
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Json schema(const Rules& rules) {
    return {{"type", "object"}, {"additionalProperties", Codec<T>::schema(rules)}};
  }
  static Json encode(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = Codec<T>::encode(value);
    return object;
  }
  static Result<std::map<std::string, T>> decode(const Json& json, const Place& place,
                                                 const Rules& rules) {
    if (!json.is_object()) return fields_detail::wrong_type(place, "an object", json);
    std::map<std::string, T> values;
    for (const auto& [key, element] : json.items()) {
      auto value = Codec<T>::decode(element, place.field(key), rules);
      if (!value) return value.error();
      values.emplace(key, *std::move(value));
    }
    return values;
  }
};

template <HasFields T>
struct Codec<T> {
  static Json schema(const Rules&) {
    Json properties = Json::object();
    Json required_names = Json::array();
    std::apply(
        [&](const auto&... field) { (add_property(properties, required_names, field), ...); },
        T::fields());
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required_names.empty()) schema["required"] = std::move(required_names);
    schema["additionalProperties"] = false;
    return schema;
  }

  /// Empty `std::optional` members are left out.
  static Json encode(const T& value) {
    Json object = Json::object();
    std::apply([&](const auto&... field) { (add_value(object, value, field), ...); }, T::fields());
    return object;
  }

  static Result<T> decode(const Json& json, const Place& place, const Rules&) {
    if (!json.is_object()) return fields_detail::wrong_type(place, "an object", json);
    T value{};
    std::optional<Error> failure;
    std::size_t used = 0;
    std::apply(
        [&](const auto&... field) { (read_field(value, json, place, failure, used, field), ...); },
        T::fields());
    if (failure) return *std::move(failure);
    if (place.strictness == Strictness::strict && used != json.size())
      return fields_detail::unknown_key(place, first_unknown(json), names());
    return value;
  }

  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> all;
    std::apply([&](const auto&... field) { (all.emplace_back(field.name), ...); }, T::fields());
    return all;
  }

 private:
  template <class M>
  struct is_optional : std::false_type {};
  template <class M>
  struct is_optional<std::optional<M>> : std::true_type {};

  template <class S, class M>
  static void add_property(Json& properties, Json& required_names, const Field<S, M>& field) {
    Json property = Codec<M>::schema(field.rules);
    if (!field.description.empty()) property["description"] = field.description;
    if (field.required) {
      required_names.push_back(field.name);
    } else if constexpr (std::is_arithmetic_v<M> || NamedEnum<M>) {
      const T defaults{};
      property["default"] = Codec<M>::encode(defaults.*(field.member));
    }
    properties[std::string(field.name)] = std::move(property);
  }

  template <class S, class M>
  static void add_value(Json& object, const T& value, const Field<S, M>& field) {
    const M& member = value.*(field.member);
    if constexpr (is_optional<M>::value) {
      if (!member) return;
    }
    object[std::string(field.name)] = Codec<M>::encode(member);
  }

  template <class S, class M>
  static void read_field(T& value, const Json& json, const Place& place,
                         std::optional<Error>& failure, std::size_t& used,
                         const Field<S, M>& field) {
    if (failure) return;
    const auto found = json.find(field.name);
    if (found == json.end()) {
      if (field.required && !is_optional<M>::value)
        failure = fields_detail::missing(place, field.name, field.description);
      return;
    }
    ++used;
    // A client that sends null for a field it leaves out means "not given".
    if (found->is_null() && !field.required) return;
    auto member = Codec<M>::decode(*found, place.field(field.name), field.rules);
    if (!member)
      failure = member.error();
    else
      value.*(field.member) = *std::move(member);
  }

  static std::string first_unknown(const Json& json) {
    const auto accepted = names();
    for (const auto& [key, element] : json.items()) {
      bool known = false;
      for (const auto& name : accepted) known = known || name == key;
      if (!known) return key;
    }
    return "";
  }
};

}  // namespace ratchet
