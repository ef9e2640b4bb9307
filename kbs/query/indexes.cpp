#include "kbs/query/indexes.h"

#include <algorithm>
#include <cstdint>

#include "kbs/documents/labels.h"
#include "kbs/index/code_file.h"

namespace ratchet::kbs {
namespace {

/// The row of the first result, or nothing.
Result<std::optional<std::int64_t>> first_row(IndexReader& reader, std::string_view sql,
                                              std::initializer_list<std::string_view> values) {
  auto connection = reader.connection();
  if (!connection) return connection.error();
  auto statement = (*connection)->prepared(sql);
  if (!statement) return statement.error();
  int at = 0;
  for (const auto value : values) (*statement)->bind(++at, value);
  auto row = (*statement)->step();
  if (!row) return row.error();
  if (!*row) return std::optional<std::int64_t>{};
  return std::optional((*statement)->integer(0));
}

/// Length of the longest common part of two squeezed ids.
std::size_t likeness(std::string_view a, std::string_view b) {
  std::vector<std::size_t> run(b.size() + 1);
  std::size_t best = 0;
  for (const char c : a)
    for (std::size_t j = b.size(); j > 0; --j) {
      run[j] = b[j - 1] == c ? run[j - 1] + 1 : 0;
      best = std::max(best, run[j]);
    }
  return best;
}

template <class Visit>
Status each_id(const Indexes& indexes, std::string_view sql, std::string_view low,
               std::string_view high, Visit visit) {
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto connection = indexes.readers[r]->connection();
    if (!connection) return connection.error();
    auto statement = (*connection)->prepared(sql);
    if (!statement) return statement.error();
    (*statement)->bind(1, low).bind(2, high);
    for (;;) {
      auto row = (*statement)->step();
      if (!row) return row.error();
      if (!*row) break;
      visit(indexes.shown_id(r, (*statement)->text(0), (*statement)->text(1)));
    }
  }
  return {};
}

}  // namespace

std::string Indexes::shown_id(std::size_t reader, std::string_view id,
                              std::string_view corpus) const {
  std::string shown(id);
  const bool builtin = has_builtin && reader == 0;
  return !builtin && builtin_ids.contains(shown) ? std::string(corpus) + ":" + shown : shown;
}

Result<std::optional<DocumentPlace>> find_document(const Indexes& indexes, std::string_view id) {
  using Found = std::optional<DocumentPlace>;
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto row = first_row(*indexes.readers[r], "SELECT rowid FROM doc WHERE id=?", {id});
    if (!row) return row.error();
    if (*row) return Found({r, **row});
  }
  const auto colon = id.find(':');
  if (colon == std::string_view::npos) return Found{};
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto row = first_row(*indexes.readers[r], "SELECT rowid FROM doc WHERE corpus=? AND own_id=?",
                         {id.substr(0, colon), id.substr(colon + 1)});
    if (!row) return row.error();
    if (*row) return Found({r, **row});
  }
  return Found{};
}

Result<std::vector<std::int64_t>> rows_named(Connection& connection, std::string_view name) {
  auto statement =
      connection.prepared("SELECT doc FROM facet WHERE name='name' AND value=? LIMIT 20");
  if (!statement) return statement.error();
  (*statement)->bind(1, name);
  std::vector<std::int64_t> rows;
  for (;;) {
    auto row = (*statement)->step();
    if (!row) return row.error();
    if (!*row) return rows;
    rows.push_back((*statement)->integer(0));
  }
}

Result<std::optional<CodePlace>> find_code(const Indexes& indexes, std::string_view id) {
  using Found = std::optional<CodePlace>;
  const auto code = parse_code_id(id);
  if (!code) return Found{};
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto connection = indexes.readers[r]->connection();
    if (!connection) return connection.error();
    auto statement =
        (*connection)
            ->prepared(
                "SELECT file.rowid FROM bundle JOIN file ON file.bundle=bundle.rowid WHERE "
                "bundle.id=? AND scope=? AND ordinal=?");
    if (!statement) return statement.error();
    (*statement)
        ->bind(1, std::string_view(code->bundle))
        .bind(2, static_cast<std::int64_t>(code->scope))
        .bind(3, std::int64_t{code->file});
    auto row = (*statement)->step();
    if (!row) return row.error();
    if (*row) return Found({r, (*statement)->integer(0), code->part});
  }
  return Found{};
}

Result<std::vector<std::string>> nearest_ids(const Indexes& indexes, std::string_view id,
                                             std::size_t count) {
  const auto wanted = squeezed(id.substr(0, 100));
  std::vector<std::pair<double, std::string>> near;
  auto read = each_id(
      indexes, "SELECT id, corpus FROM doc WHERE ?1=?1 AND ?2=?2", "", "", [&](std::string shown) {
        const auto have = squeezed(shown);
        const auto common = likeness(wanted, have);
        // Longest common part first, shorter ids before longer ones.
        if (common >= 3)
          near.emplace_back(static_cast<double>(common) - static_cast<double>(have.size()) / 1000,
                            std::move(shown));
      });
  if (!read) return read.error();
  const auto shown = std::min(count, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(shown),
                            [](const auto& a, const auto& b) {
                              return a.first != b.first ? a.first > b.first : a.second < b.second;
                            });
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < shown; ++i) ids.push_back(std::move(near[i].second));
  return ids;
}

Result<std::vector<std::string>> ids_with_prefix(const Indexes& indexes, std::string_view prefix,
                                                 std::size_t count) {
  std::vector<std::string> ids;
  const auto high = std::string(prefix) + "\xF4\x8F\xBF\xBF";
  auto read =
      each_id(indexes, "SELECT id, corpus FROM doc WHERE id>=? AND id<=? ORDER BY id LIMIT 10000",
              prefix, high, [&](std::string shown) { ids.push_back(std::move(shown)); });
  if (!read) return read.error();
  std::ranges::sort(ids);
  if (ids.size() > count) ids.resize(count);
  return ids;
}

}  // namespace ratchet::kbs
