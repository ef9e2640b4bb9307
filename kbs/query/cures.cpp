#include "kbs/query/cures.h"

#include "kbs/documents/labels.h"
#include "kbs/index/for_each_row.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kPerFinding = 2;

constexpr std::string_view kCures =
    "SELECT doc.id, doc.corpus, substr(cure.value,length(?1)+2), coalesce(tried.value,'') "
    "FROM facet AS cure JOIN doc ON doc.rowid=cure.doc "
    "LEFT JOIN facet AS tried ON tried.doc=doc.rowid AND tried.name='code' "
    "WHERE cure.name='cures' AND substr(cure.value,1,length(?1)+1)=?1||'#' "
    "AND EXISTS(SELECT 1 FROM facet WHERE name='language' AND value=?2 AND doc=cure.doc) "
    "AND (?3='' OR EXISTS(SELECT 1 FROM facet WHERE name='architecture' AND value=?3 AND "
    "doc=cure.doc)) "
    "ORDER BY tried.value='measured' DESC, doc.id";

}  // namespace

Result<std::vector<Cure>> find_cures(const Indexes& indexes, const QuerySituation& situation) {
  const auto language = facet_value(situation.language);
  const auto chip =
      situation.architecture.empty() ? std::string{} : normal_architecture(situation.architecture);
  std::vector<Cure> cures;
  for (const auto& finding : situation.findings) {
    std::size_t found = 0;
    for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
      auto connection = indexes.readers[r]->connection();
      if (!connection) return connection.error();
      auto read = for_each_row(
          **connection, kCures,
          [&](const Statement& row) {
            if (++found > kPerFinding) return;
            cures.push_back({finding, indexes.shown_id(r, row.text(0), row.text(1)),
                             std::string(row.text(2)), std::string(row.text(3))});
          },
          finding, language, chip);
      if (!read) return read.error();
    }
  }
  return cures;
}

}  // namespace ratchet::kbs
