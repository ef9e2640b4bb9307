#pragma once

// How a struct or an enum declares what it looks like in JSON. Light on purpose: a header of plain
// types includes this one, a source that reads or writes JSON includes fields.h.

#include <array>
#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A member's or an enumerator's name as it is declared: "samples" for `&Timing::samples`.
template <auto Value>
consteval std::string_view declared_name() {
  // GCC and Clang name the argument here: "… [Value = &ratchet::Timing::samples]".
  constexpr std::string_view function = __PRETTY_FUNCTION__;
  const auto end = function.find_first_of(";]", function.find("Value = "));
  const auto begin = function.rfind(':', end) + 1;
  return function.substr(begin, end - begin);
}

namespace fields_detail {
template <class Struct, class Member>
Field<Struct, Member> field_of(Member Struct::* member);
}  // namespace fields_detail

/// Named here, so that a source that only includes a list need not compile its fields' bodies.
template <auto Member>
using FieldOf = decltype(fields_detail::field_of(Member));

/// Fields that have the same name in JSON as in the struct. Renaming the member renames the field.
template <auto Member>
constexpr FieldOf<Member> required(std::string_view description = "", Rules rules = {}) {
  return required(declared_name<Member>(), Member, description, rules);
}
template <auto Member>
constexpr FieldOf<Member> optional(std::string_view description = "", Rules rules = {}) {
  return optional(declared_name<Member>(), Member, description, rules);
}

/// One filter value or several: `"wiki"` and `["wiki", "prs"]` both parse. The schema says a list.
template <class T>
struct OneOrMany {
  std::vector<T> values;
};

namespace fields_detail {
/// A visitor that only asks whether a struct declares fields.
struct Ignore {
  void operator()(const auto&... /*fields*/) const {}
};
}  // namespace fields_detail

template <class T>
concept HasFields = requires { T::fields(fields_detail::Ignore{}); };

namespace fields_detail {
struct FieldRow;
using FieldTable = std::vector<FieldRow>;

/// Defined in fields.h. For the records of one header that many sources read and write, it is
/// instantiated once and declared `extern` here and there: that compiles faster.
template <HasFields T>
const FieldTable& table_of();
}  // namespace fields_detail

/// An enum with a free function `constexpr auto enum_names(E)` beside it that returns an array of
/// {value, name} pairs.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { enum_names(E{}); };

/// What `enum_names` returns where each value has the name in JSON that it has in the enum.
template <auto... Values>
consteval auto as_written() {
  return std::array{std::pair{Values, declared_name<Values>()}...};
}

/// The wire name of an enum value.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : enum_names(E{}))
    if (candidate == value) return name;
  return "?";
}

}  // namespace ratchet
