#pragma once

#include <string_view>
#include <utility>

#include "kbs/index/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Calls `visit(row)` for each row of a query, in order. `value` is the text of its parameter 1; a
/// query without parameters leaves it out. `row` holds one row during the call only.
/// Errors: those of server/sqlite, at the row where they happen; the rows before were visited.
template <class Visit>
[[nodiscard]] Status each_row(Database& database, std::string_view sql, Visit visit,
                              std::string_view value = {}) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  if (value.data() != nullptr) statement->bind(1, value);
  for (;;) {
    auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return {};
    visit(std::as_const(*statement));
  }
}

}  // namespace ratchet::kbs
