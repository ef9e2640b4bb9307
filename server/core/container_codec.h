#pragma once

// How optional values, lists and maps become JSON and back: the middle of fields.h.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/codec.h"

namespace ratchet {

template <class T>
struct Codec<std::optional<T>> {
  static Json schema(const Rules& rules) { return Codec<T>::schema(rules); }
  static Json encode(const std::optional<T>& value) {
    return value ? Codec<T>::encode(*value) : Json(nullptr);
  }
  static Status decode(const Json& json, const Place& place, const Rules& rules,
                       std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return {};
    }
    return Codec<T>::decode(json, place, rules, value.emplace());
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Json schema(const Rules& /*rules*/) {
    return {{"type", "array"}, {"items", Codec<T>::schema(fields_detail::kNoRules)}};
  }
  static Json encode(const std::vector<T>& values) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(Codec<T>::encode(value));
    return array;
  }
  static Status decode(const Json& json, const Place& place, const Rules& rules,
                       std::vector<T>& values) {
    if (auto list = fields_detail::check_list(json, place, rules); !list) return list;
    values.clear();
    values.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      T value{};
      auto read = Codec<T>::decode(json[i], place.element(i), fields_detail::kNoRules, value);
      if (!read) return read;
      values.push_back(std::move(value));
    }
    return {};
  }
};

// The schema of `OneOrMany` is the list alone: some clients drop tools whose schemas use
// combinators or lists of types.
template <class T>
struct Codec<OneOrMany<T>> {
  static Json schema(const Rules& rules) { return Codec<std::vector<T>>::schema(rules); }
  static Json encode(const OneOrMany<T>& values) {
    return Codec<std::vector<T>>::encode(values.values);
  }
  static Status decode(const Json& json, const Place& place, const Rules& rules,
                       OneOrMany<T>& values) {
    if (json.is_array()) return Codec<std::vector<T>>::decode(json, place, rules, values.values);
    values.values.resize(1);
    return Codec<T>::decode(json, place, rules, values.values.front());
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
  static Status decode(const Json& json, const Place& place, const Rules& rules,
                       std::map<std::string, T>& values) {
    if (!json.is_object()) return fields_detail::wrong_type(place, "an object", json);
    values.clear();
    for (const auto& [key, element] : json.items())
      if (auto read = Codec<T>::decode(element, place.field(key), rules, values[key]); !read)
        return read;
    return {};
  }
};

}  // namespace ratchet
