#pragma once

// A field of a struct as it is declared, and the messages about values that do not fit one. See
// fields.h for how declarations are used.

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

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
constexpr Field<Struct, Member> required(std::string_view name, Member Struct::* member,
                                         std::string_view description, Rules rules = {}) {
  return {name, member, description, true, rules};
}

/// May be left out. Its default is the member's initial value; `std::optional` members have none.
template <class Struct, class Member>
constexpr Field<Struct, Member> optional(std::string_view name, Member Struct::* member,
                                         std::string_view description, Rules rules = {}) {
  return {name, member, description, false, rules};
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

/// One filter value or several: `"wiki"` and `["wiki", "prs"]` both parse. The schema says a list.
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

/// A visitor to ask with whether a struct has a list.
struct Ignore {
  void operator()(const auto&... /*fields*/) const {}
};
}  // namespace fields_detail

}  // namespace ratchet
