#pragma once

#include <string_view>
#include <utility>

#include "kbs/index/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Calls `visit(row)` for each row of a query, in order. `row` is valid during the call only.
/// Errors: those of server/sqlite; rows before the failing one have been visited.
template <class Visit>
[[nodiscard]] Status for_each_row(Statement& query, Visit visit) {
  for (;;) {
    auto row = query.step();
    if (!row) return row.error();
    if (!*row) return {};
    visit(std::as_const(query));
  }
}

/// The same for SQL text, with `values` bound to its parameters.
template <class Visit, class... Values>
[[nodiscard]] Status for_each_row(Database& database, std::string_view sql, Visit visit,
                                  const Values&... values) {
  auto query = database.prepare(sql);
  if (!query) return query.error();
  return for_each_row(bind_all(*query, values...), visit);
}

}  // namespace ratchet::kbs
