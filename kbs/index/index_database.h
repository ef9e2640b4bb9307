#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "server/core/result.h"
#include "server/sqlite/sqlite.h"

namespace ratchet::kbs {

using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Statement;

/// Opens a file of the knowledge index, with the tokenizers and text functions of its schema
/// registered: a finished one (`immutable`) or one being written (`scratch`).
/// Errors: `not_found` without the file (immutable); those of server/sqlite.
Result<Database> open_index(const std::filesystem::path& path, OpenMode mode);

/// Prepares each statement from its SQL.
Status prepare_all(Database& database,
                   std::initializer_list<std::pair<Statement*, std::string_view>> statements);

/// A value for a BLOB column, as opposed to text.
struct Blob {
  std::string_view bytes;
};

/// Binds `values` to the parameters 1, 2, …: integers, enums, floating point, text or `Blob`.
template <class... Values>
Statement& bind_all(Statement& statement, const Values&... values) {
  int index = 0;
  [[maybe_unused]] const auto bind = [&]<class Value>(const Value& value) {
    ++index;
    if constexpr (std::is_same_v<Value, Blob>)
      statement.bind_blob(index, value.bytes);
    else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
      statement.bind(index, static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<Value>)
      statement.bind(index, double{value});
    else
      statement.bind(index, std::string_view(value));
  };
  (bind(values), ...);
  return statement;
}

}  // namespace ratchet::kbs
