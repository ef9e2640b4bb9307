#pragma once

// How optional values, lists and maps become JSON and back: the middle of fields.h.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/codec.h"
#include "server/core/field.h"

namespace ratchet {

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
    // The list alone: some clients drop tools whose schemas use combinators or lists of types. A
    // model that sends one value bare is understood all the same.
    return Codec<std::vector<T>>::schema(rules);
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

}  // namespace ratchet
