#pragma once

// How single values, lists and maps become JSON and back: the base of fields.h. What does not
// depend on the type is compiled once, in codec.cpp.

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/field.h"
#include "server/core/origin.h"
#include "server/core/result.h"
#include "server/core/units.h"

namespace ratchet {

/// How strictly `decode` reads. Arguments from outside are strict; our own stored payloads are not,
/// so that a newer writer's extra fields do no harm.
enum class Strictness { strict, tolerant };

/// The position of a value, for messages: "cases[2].dims".
struct Place {
  std::string path;
  Strictness strictness = Strictness::strict;

  [[nodiscard]] Place field(std::string_view name) const;
  [[nodiscard]] Place element(std::size_t index) const;
};

namespace fields_detail {

inline constexpr Rules kNoRules{};
inline constexpr std::size_t kShownBytes = 120;  ///< of a caller's text in a message

Error wrong_type(const Place& place, std::string_view expected, const Json& seen);
/// Refuses what is not a list, or a list longer than `rules` allow.
Status check_list(const Json& json, const Place& place, const Rules& rules);

Json integer_schema(const Rules& rules);
/// The number if it is whole, lies in `lowest`..`highest` (the limits of a type) and follows
/// `rules`. A value above the largest `int64_t` comes back as its two's complement.
Result<std::int64_t> read_integer(const Json& json, const Place& place, const Rules& rules,
                                  double lowest, double highest, bool wide);
Json enum_schema(std::span<const std::string_view> names);
/// The index of the name that `json` holds.
Result<std::size_t> read_enum(const Json& json, const Place& place,
                              std::span<const std::string_view> names);

template <NamedEnum E>
constexpr auto values_and_names() {
  constexpr auto pairs = enum_names(E{});
  std::pair<std::array<E, pairs.size()>, std::array<std::string_view, pairs.size()>> split{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    split.first[i] = pairs[i].first;
    split.second[i] = pairs[i].second;
  }
  return split;
}

}  // namespace fields_detail

/// `schema` describes a type, `encode` writes a value, `decode` reads one into `value`, which a
/// failure may leave half written.
template <class T>
struct Codec;

template <>
struct Codec<bool> {
  static Json schema(const Rules& rules);
  static Json encode(bool value);
  static Status decode(const Json& json, const Place& place, const Rules& rules, bool& value);
};

template <std::integral T>
  requires(!std::same_as<T, bool>)
struct Codec<T> {
  static Json schema(const Rules& rules) { return fields_detail::integer_schema(rules); }
  static Json encode(T value) { return value; }
  static Status decode(const Json& json, const Place& place, const Rules& rules, T& value) {
    const auto read = fields_detail::read_integer(
        json, place, rules, static_cast<double>(std::numeric_limits<T>::min()),
        static_cast<double>(std::numeric_limits<T>::max()), sizeof(T) == 8);
    if (!read) return read.error();
    value = static_cast<T>(*read);
    return {};
  }
};

/// JSON has no infinities and no NaN: they are written as null, and a stored null is read as NaN.
template <>
struct Codec<double> {
  static Json schema(const Rules& rules);
  static Json encode(double value);
  static Status decode(const Json& json, const Place& place, const Rules& rules, double& value);
};

template <>
struct Codec<std::string> {
  static Json schema(const Rules& rules);
  static Json encode(const std::string& value);
  static Status decode(const Json& json, const Place& place, const Rules& rules,
                       std::string& value);
};

/// An object of any form, passed through.
template <>
struct Codec<Json> {
  static Json schema(const Rules& rules);
  static Json encode(const Json& value) { return value; }
  static Status decode(const Json& json, const Place& place, const Rules& rules, Json& value);
};

template <>
struct Codec<Origin> {
  static Json schema(const Rules& rules) { return Codec<std::string>::schema(rules); }
  static Json encode(const Origin& value) { return Codec<std::string>::encode(value.name); }
  static Status decode(const Json& json, const Place& place, const Rules& rules, Origin& value) {
    return Codec<std::string>::decode(json, place, rules, value.name);
  }
};

template <>
struct Codec<RunId> {
  static Json schema(const Rules& rules) { return Codec<std::string>::schema(rules); }
  static Json encode(const RunId& value) { return Codec<std::string>::encode(value.text); }
  static Status decode(const Json& json, const Place& place, const Rules& rules, RunId& value) {
    return Codec<std::string>::decode(json, place, rules, value.text);
  }
};

template <>
struct Codec<VersionId> {
  static Json schema(const Rules& rules) { return Codec<std::string>::schema(rules); }
  static Json encode(const VersionId& value) { return Codec<std::string>::encode(value.text()); }
  static Status decode(const Json& json, const Place& place, const Rules& rules, VersionId& value);
};

template <class Unit, class Rep>
struct Codec<Quantity<Unit, Rep>> {
  using Q = Quantity<Unit, Rep>;
  static Json schema(const Rules& rules) { return Codec<Rep>::schema(rules); }
  static Json encode(const Q& value) { return Codec<Rep>::encode(value.value); }
  static Status decode(const Json& json, const Place& place, const Rules& rules, Q& value) {
    return Codec<Rep>::decode(json, place, rules, value.value);
  }
};

template <NamedEnum E>
struct Codec<E> {
  static constexpr auto kTable = fields_detail::values_and_names<E>();

  static Json schema(const Rules& /*rules*/) { return fields_detail::enum_schema(kTable.second); }
  static Json encode(E value) { return Codec<std::string>::encode(std::string(name_of(value))); }
  static Status decode(const Json& json, const Place& place, const Rules& /*rules*/, E& value) {
    const auto index = fields_detail::read_enum(json, place, kTable.second);
    if (!index) return index.error();
    value = kTable.first[*index];
    return {};
  }
};

}  // namespace ratchet
