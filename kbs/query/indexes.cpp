#include "kbs/query/indexes.h"

#include <algorithm>
#include <cstdint>

#include "kbs/documents/labels.h"
#include "kbs/index/code_file.h"

namespace ratchet::kbs {
namespace {

/// First column of the first row of a query; empty without a row.
template <class... Values>
Result<std::optional<std::int64_t>> first_row(IndexReader& reader, std::string_view sql,
                                              const Values&... values) {
  auto connection = reader.connection();
  if (!connection) return connection.error();
  std::optional<std::int64_t> first;
  auto read = for_each_row(
      **connection, sql,
      [&](const Statement& row) {
        if (!first) first = row.integer(0);
      },
      values...);
  if (!read) return read.error();
  return first;
}

/// Length of the longest common substring of two squeezed ids.
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

/// Calls `visit(id)` with the public id of each document that a query for id and corpus yields.
template <class Visit, class... Values>
Status each_id(const Indexes& indexes, std::string_view sql, Visit visit, const Values&... values) {
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto connection = indexes.readers[r]->connection();
    if (!connection) return connection.error();
    auto read = for_each_row(
        **connection, sql,
        [&](const Statement& row) { visit(indexes.shown_id(r, row.text(0), row.text(1))); },
        values...);
    if (!read) return read;
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
    auto row = first_row(*indexes.readers[r], "SELECT rowid FROM doc WHERE id=?", id);
    if (!row) return row.error();
    if (*row) return Found({r, **row});
  }
  const auto colon = id.find(':');
  if (colon == std::string_view::npos) return Found{};
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto row = first_row(*indexes.readers[r], "SELECT rowid FROM doc WHERE corpus=? AND own_id=?",
                         id.substr(0, colon), id.substr(colon + 1));
    if (!row) return row.error();
    if (*row) return Found({r, **row});
  }
  return Found{};
}

Result<std::vector<std::int64_t>> rows_named(Connection& connection, std::string_view name) {
  std::vector<std::int64_t> rows;
  auto read = for_each_row(
      connection, "SELECT doc FROM facet WHERE name='name' AND value=? LIMIT 20",
      [&](const Statement& row) { rows.push_back(row.integer(0)); }, name);
  if (!read) return read.error();
  return rows;
}

Result<std::optional<CodePlace>> find_code(const Indexes& indexes, std::string_view id) {
  using Found = std::optional<CodePlace>;
  const auto code = parse_code_id(id);
  if (!code) return Found{};
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto row = first_row(*indexes.readers[r],
                         "SELECT file.rowid FROM bundle JOIN file ON file.bundle=bundle.rowid "
                         "WHERE bundle.id=? AND scope=? AND ordinal=?",
                         code->bundle, code->scope, code->file);
    if (!row) return row.error();
    if (*row) return Found({r, **row, code->part});
  }
  return Found{};
}

Result<std::vector<std::string>> nearest_ids(const Indexes& indexes, std::string_view id,
                                             std::size_t count) {
  const auto wanted = squeezed(id.substr(0, 100));
  std::vector<std::pair<double, std::string>> near;
  auto read = each_id(indexes, "SELECT id, corpus FROM doc", [&](std::string shown) {
    const auto have = squeezed(shown);
    const auto common = likeness(wanted, have);
    // The longest common substring first, shorter ids before longer ones.
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
  auto read = each_id(
      indexes, "SELECT id, corpus FROM doc WHERE id>=? AND id<=? ORDER BY id LIMIT 10000",
      [&](std::string shown) { ids.push_back(std::move(shown)); }, prefix, high);
  if (!read) return read.error();
  std::ranges::sort(ids);
  if (ids.size() > count) ids.resize(count);
  return ids;
}

}  // namespace ratchet::kbs
