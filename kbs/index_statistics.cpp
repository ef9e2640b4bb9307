#include "kbs/index_statistics.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ratchet::kbs {
namespace {

static_assert(sizeof(DocumentStatistics) == 16);

/// Reads the next SQLite varint of FTS5's size record.
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

}  // namespace

Status write_statistics(Database& database) {
  auto last = database.integer("SELECT max(rowid) FROM doc");
  if (!last) return last.error();
  std::vector<DocumentStatistics> all(static_cast<std::size_t>(*last) + 1);
  auto rows = database.prepare(
      "SELECT doc.rowid, doc.scope, fts_docsize.sz FROM doc JOIN fts_docsize ON "
      "fts_docsize.id=doc.rowid");
  if (!rows) return rows.error();
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    auto& one = all[static_cast<std::size_t>(rows->integer(0))];
    one.present = static_cast<std::uint32_t>(rows->integer(1)) + 1;
    std::size_t at = 0;
    for (auto& length : one.lengths)
      length = static_cast<std::uint16_t>(
          std::min<std::uint64_t>(next_varint(rows->blob(2), at), 65'535));
  }
  auto put = database.prepare("INSERT OR REPLACE INTO meta VALUES('statistics', ?)");
  if (!put) return put.error();
  return put->bind_blob(1, {reinterpret_cast<const char*>(all.data()), all.size() * sizeof all[0]})
      .run();
}

Result<IndexStatistics> read_statistics(Database& database) {
  auto get = database.prepare("SELECT value FROM meta WHERE name='statistics'");
  if (!get) return get.error();
  auto row = get->step();
  if (!row) return row.error();
  const auto bytes = *row ? get->blob(0) : std::string_view{};
  IndexStatistics all;
  all.documents.resize(bytes.size() / sizeof(DocumentStatistics));
  std::memcpy(all.documents.data(), bytes.data(),
              all.documents.size() * sizeof(DocumentStatistics));
  for (const auto& document : all.documents) {
    if (document.present == 0) continue;
    ++all.count;
    for (std::size_t f = 0; f < kFtsFields; ++f) all.lengths[f] += document.lengths[f];
  }
  return all;
}

}  // namespace ratchet::kbs
