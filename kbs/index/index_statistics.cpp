#include "kbs/index/index_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kbs/index/for_each_row.h"
#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

static_assert(sizeof(DocumentStatistics) == 16);
static_assert(sizeof(CodeStatistics) == 8);

/// Reads the next SQLite varint of an FTS5 size record.
std::uint64_t next_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9 && at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return (value << 8U) | byte;
    value = (value << 7U) | (byte & 0x7FU);
    if ((byte & 0x80U) == 0) break;
  }
  return value;
}

template <class Item>
Status put_block(Database& database, std::string_view name, const std::vector<Item>& items) {
  auto put = database.prepare("INSERT OR REPLACE INTO meta VALUES(?, ?)");
  if (!put) return put.error();
  return bind_all(*put, name,
                  Blob{{reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)}})
      .run();
}

/// A block stored by `put_block`; empty when there is none.
template <class Item>
Result<std::vector<Item>> get_block(Database& database, std::string_view name) {
  auto get = database.prepare("SELECT value FROM meta WHERE name=?");
  if (!get) return get.error();
  auto row = get->bind(1, name).step();
  if (!row) return row.error();
  const auto bytes = *row ? get->blob(0) : std::string_view{};
  std::vector<Item> items(bytes.size() / sizeof(Item));
  bytes.copy(reinterpret_cast<char*>(items.data()), items.size() * sizeof(Item));
  return items;
}

Status write_page_block(Database& database) {
  auto last = database.integer("SELECT max(rowid) FROM doc");
  if (!last) return last.error();
  std::vector<DocumentStatistics> all(static_cast<std::size_t>(*last) + 1);
  auto read =
      for_each_row(database,
                   "SELECT doc.rowid, doc.scope, fts_docsize.sz FROM doc JOIN fts_docsize ON "
                   "fts_docsize.id=doc.rowid",
                   [&](const Statement& row) {
                     auto& one = all[static_cast<std::size_t>(row.integer(0))];
                     one.present = static_cast<std::uint32_t>(row.integer(1)) + 1;
                     std::size_t at = 0;
                     for (auto& length : one.lengths)
                       length = static_cast<std::uint16_t>(
                           std::min<std::uint64_t>(next_varint(row.blob(2), at), 65'535));
                   });
  if (!read) return read;
  return put_block(database, "statistics", all);
}

Status write_code_block(Database& database) {
  auto last = database.integer("SELECT max(rowid) FROM file");
  if (!last) return last.error();
  std::vector<std::string> languages;
  auto done = for_each_row(
      database,
      "SELECT language FROM file GROUP BY language ORDER BY count(*) DESC, language LIMIT 255",
      [&](const Statement& row) { languages.emplace_back(row.text(0)); });
  std::vector<CodeStatistics> all(static_cast<std::size_t>(*last) + 1);
  if (done)
    done = for_each_row(database, "SELECT rowid, bundle, scope, language FROM file",
                        [&](const Statement& row) {
                          auto& one = all[static_cast<std::size_t>(row.integer(0))];
                          one.bundle = static_cast<std::uint32_t>(row.integer(1));
                          one.scope = static_cast<std::uint8_t>(row.integer(2));
                          const auto known = std::ranges::find(languages, row.text(3));
                          one.language = static_cast<std::uint8_t>(known - languages.begin());
                        });
  std::string joined;
  for (const auto& language : languages) joined += language + "\n";
  if (done)
    done = put_block(database, "languages", std::vector<char>(joined.begin(), joined.end()));
  if (done) done = put_block(database, "code", all);
  return done;
}

Status count_terms(Database& database, std::string_view index, Area area) {
  return database.execute(
      fmt::format("CREATE VIRTUAL TABLE temp.terms_of_{0} USING fts5vocab('main','{0}','row');"
                  "DELETE FROM frequent WHERE area={1};"
                  "INSERT INTO frequent(term, area, count) SELECT term, {1}, doc FROM "
                  "temp.terms_of_{0} WHERE doc>={2};"
                  "DROP TABLE temp.terms_of_{0};",
                  index, static_cast<int>(area), kFrequent));
}

}  // namespace

Status write_statistics(Database& database, bool pages, bool code) {
  Status done;
  if (pages) done = write_page_block(database);
  if (done && pages) done = count_terms(database, "fts", Area::pages);
  if (done && code) done = write_code_block(database);
  if (done && code) done = count_terms(database, "code", Area::code);
  return done;
}

Result<IndexStatistics> read_statistics(Database& database) {
  auto documents = get_block<DocumentStatistics>(database, "statistics");
  if (!documents) return documents.error();
  IndexStatistics all;
  all.documents = *std::move(documents);
  for (const auto& document : all.documents) {
    if (document.present == 0) continue;
    ++all.count;
    for (std::size_t f = 0; f < kFtsFields; ++f) all.lengths[f] += document.lengths[f];
  }
  return all;
}

Result<CodeIndexStatistics> read_code_statistics(Database& database) {
  auto files = get_block<CodeStatistics>(database, "code");
  auto languages = get_block<char>(database, "languages");
  auto parts = database.integer("SELECT count(*) FROM part");
  auto bundles = database.integer("SELECT max(rowid) FROM bundle");
  if (!files) return files.error();
  if (!languages) return languages.error();
  if (!parts) return parts.error();
  if (!bundles) return bundles.error();
  CodeIndexStatistics all;
  all.files = *std::move(files);
  all.parts = static_cast<double>(*parts);
  all.bundles = *bundles + 1;
  for (const auto name : lines_of({languages->data(), languages->size()}))
    all.languages.emplace_back(name);
  return all;
}

}  // namespace ratchet::kbs
