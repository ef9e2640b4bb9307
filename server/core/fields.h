#pragma once

// One declaration per struct: a list of fields drives the parser, the JSON Schema, the encoder
// and the docs. A struct takes part by offering
//
//   static constexpr void fields(auto&& visit) {
//     visit(required<&Args::run>("Run id that create_run returned."),
//           optional<&Args::limit>("Most rows.", {.min = 1, .max = 50}),
//           required("class", &Args::kind, "A field with another name than its member."));
//   }
//
// which may call `visit` more than once, for example through its base's `fields(visit)`. An enum
// takes part by `enum_names` (field.h). A member `Origin origin` needs no line in the list. A list
// becomes a table of addresses and functions the first time that it is needed, and one walker,
// compiled once, reads and writes every struct by its table. Everything here is pure and
// thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "server/core/container_codec.h"

namespace ratchet {
namespace fields_detail {

using IsEmpty = bool (*)(const void* value);

/// A field without its type. `value` points at the member.
struct FieldRow {
  std::string_view name;
  std::string_view description;
  Rules rules;
  bool required;
  bool shows_default;     ///< the schema tells the member's initial value
  bool marks_foreign;     ///< an `Origin`: unless it is empty, the record is marked as untrusted
  std::ptrdiff_t offset;  ///< of the member in its struct, in bytes
  Json (*schema)(const Rules& rules);
  IsEmpty is_empty;  ///< of a `std::optional` or `Origin` member; else null
  Json (*encode)(const void* value);
  Status (*decode)(const Json& json, const Place& place, const Rules& rules, void* value);
};

/// `initial` is a struct as its constructor leaves it.
Json record_schema(const FieldTable& table, const void* initial);
Json encode_record(const FieldTable& table, const void* record);
Status decode_record(const FieldTable& table, const Json& json, const Place& place, void* record);

template <class M>
inline constexpr IsEmpty kIsEmpty = nullptr;
template <class M>
inline constexpr IsEmpty kIsEmpty<std::optional<M>> =
    [](const void* value) { return !static_cast<const std::optional<M>*>(value)->has_value(); };

template <>
inline constexpr IsEmpty kIsEmpty<Origin> =
    [](const void* value) { return static_cast<const Origin*>(value)->name.empty(); };

template <class M>
Json encode_member(const void* value) {
  return Codec<M>::encode(*static_cast<const M*>(value));
}

template <class M>
Status decode_member(const Json& json, const Place& place, const Rules& rules, void* value) {
  return Codec<M>::decode(json, place, rules, *static_cast<M*>(value));
}

template <class T, class S, class M>
FieldRow row_of(const T& record, const Field<S, M>& field) {
  const auto* start = reinterpret_cast<const char*>(&record);
  const auto* member = reinterpret_cast<const char*>(&(record.*(field.member)));
  return {.name = field.name,
          .description = field.description,
          .rules = field.rules,
          .required = field.required,
          .shows_default = !field.required && (std::is_arithmetic_v<M> || NamedEnum<M>),
          .marks_foreign = std::is_same_v<M, Origin>,
          .offset = member - start,
          .schema = &Codec<M>::schema,
          .is_empty = kIsEmpty<M>,
          .encode = &encode_member<M>,
          .decode = &decode_member<M>};
}

inline constexpr std::string_view kOriginDescription = "Who wrote these texts.";

// Also true of a record whose base has an origin: no list of fields can leave it out.
template <class T>
concept HasOrigin = requires { requires std::is_same_v<decltype(T::origin), Origin>; };
template <class T>
concept HasConstantOrigin = requires { std::string_view(T::kOrigin); };

/// Written, never read: what claims to be such a record cannot claim another origin.
template <class T>
FieldRow constant_origin() {
  return {.name = "origin",
          .description = kOriginDescription,
          .rules = {},
          .required = false,
          .shows_default = false,
          .marks_foreign = true,
          .offset = 0,
          .schema = &Codec<std::string>::schema,
          .is_empty = nullptr,
          .encode = [](const void*) { return Json(T::kOrigin); },
          .decode = [](const Json&, const Place&, const Rules&, void*) { return Status{}; }};
}

template <HasFields T>
const FieldTable& table_of() {
  static const FieldTable table = [] {
    FieldTable rows;
    const T record{};
    T::fields([&](const auto&... field) { (rows.push_back(row_of(record, field)), ...); });
    if constexpr (HasConstantOrigin<T>)
      rows.push_back(constant_origin<T>());
    else if constexpr (HasOrigin<T>)
      rows.push_back(row_of(record, optional<&T::origin>(kOriginDescription)));
    return rows;
  }();
  return table;
}

}  // namespace fields_detail

/// Empty `std::optional` members are left out.
template <HasFields T>
struct Codec<T> {
  static Json schema(const Rules& /*rules*/) {
    const T initial{};
    return fields_detail::record_schema(fields_detail::table_of<T>(), &initial);
  }
  static Json encode(const T& value) {
    return fields_detail::encode_record(fields_detail::table_of<T>(), &value);
  }
  static Status decode(const Json& json, const Place& place, const Rules& /*rules*/, T& value) {
    return fields_detail::decode_record(fields_detail::table_of<T>(), json, place, &value);
  }
};

template <class T>
[[nodiscard]] Json encode(const T& value) {
  return Codec<T>::encode(value);
}

template <class T>
[[nodiscard]] Result<T> decode(const Json& json, const Place& place = {},
                               const Rules& rules = fields_detail::kNoRules) {
  T value{};
  if (auto read = Codec<T>::decode(json, place, rules, value); !read) return read.error();
  return value;
}

/// Reads a payload that this program wrote itself: unknown keys are ignored.
template <class T>
[[nodiscard]] Result<T> decode_stored(const Json& json) {
  return decode<T>(json, Place{"", Strictness::tolerant});
}

template <class T>
[[nodiscard]] Json schema_of() {
  return Codec<T>::schema(fields_detail::kNoRules);
}

}  // namespace ratchet
