#pragma once

// One declaration per struct: a list of fields drives the parser, the JSON Schema, the encoder
// and the docs. A struct takes part by offering
//
//   static constexpr void fields(auto&& visit) {
//     visit(required("run", &Args::run, "Run id that create_run returned."),
//           optional("limit", &Args::limit, "Most rows.", {.min = 1, .max = 50}));
//   }
//
// which may call `visit` more than once, say through its base's `fields(visit)`. (A visitor,
// because then a source that only sees a struct does not pay for its list: lists returned as
// std::tuple were a third of all compile time.) An enum takes part by a free function `constexpr
// auto enum_names(E)` beside it that returns an array of {value, name} pairs. Everything here is
// pure and thread-safe.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/core/codec.h"
#include "server/core/container_codec.h"
#include "server/core/field.h"

namespace ratchet {

template <HasFields T>
struct Codec<T> {
  static Json schema(const Rules&) {
    Json properties = Json::object();
    Json required_names = Json::array();
    T::fields(
        [&](const auto&... field) { (add_property(properties, required_names, field), ...); });
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required_names.empty()) schema["required"] = std::move(required_names);
    schema["additionalProperties"] = false;
    return schema;
  }

  /// Empty `std::optional` members are left out.
  static Json encode(const T& value) {
    Json object = Json::object();
    T::fields([&](const auto&... field) { (add_value(object, value, field), ...); });
    return object;
  }

  static Result<T> decode(const Json& json, const Place& place, const Rules&) {
    if (!json.is_object()) return fields_detail::wrong_type(place, "an object", json);
    T value{};
    std::optional<Error> failure;
    std::size_t used = 0;
    T::fields(
        [&](const auto&... field) { (read_field(value, json, place, failure, used, field), ...); });
    if (failure) return *std::move(failure);
    if (place.strictness == Strictness::strict && used != json.size())
      return fields_detail::unknown_key(place, first_unknown(json), names());
    return value;
  }

  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> all;
    T::fields([&](const auto&... field) { (all.emplace_back(field.name), ...); });
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
