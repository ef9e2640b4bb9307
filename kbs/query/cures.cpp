#include "kbs/query/cures.h"

#include <algorithm>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "kbs/index/for_each_row.h"
#include "server/core/text.h"
#include "server/sqlite/compression.h"

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

/// The finding's own page and those that it proposes; of the latter and of methods only those for
/// the language and the chip. A pattern's own page comes last.
constexpr std::string_view kAdvice =
    "SELECT page.id, page.corpus, page.kind, page.title, page.text FROM doc AS page "
    "WHERE page.kind IN ('method','technique','pattern') AND (page.own_id=?1 OR page.own_id IN "
    "(SELECT proposed.value FROM doc AS own JOIN facet AS proposed ON proposed.doc=own.rowid AND "
    "proposed.name='proposes' WHERE own.own_id=?1)) AND (page.kind='pattern' OR "
    "EXISTS(SELECT 1 FROM facet WHERE name='language' AND value=?2 AND doc=page.rowid) AND "
    "(?3='' OR EXISTS(SELECT 1 FROM facet WHERE name='architecture' AND value=?3 AND "
    "doc=page.rowid))) "
    "ORDER BY page.kind='pattern', page.kind, page.id";

struct Asked {
  std::string finding, language, chip;
};

/// What the heading contains under which a page of this kind shows its code or its ways.
std::string_view advice_heading(std::string_view kind, std::string_view title,
                                std::string_view language) {
  if (kind == "pattern") return "best first";
  if (kind == "technique") return title;
  if (language == "cuda-cpp") return "Recipe: CUDA C++";
  if (language == "triton") return "Recipe: Triton";
  if (language == "cutlass" || language == "cute-dsl") return "Recipe: CUTLASS and CuTe";
  return {};
}

/// The heading of the page that contains the words; empty if none does.
std::string heading_with(std::string_view text, std::string_view words) {
  if (words.empty()) return {};
  const auto all = headings_of(split_page(text).body);
  for (const auto heading : lines_of(all))
    if (heading.find(words) != std::string_view::npos) return std::string(heading);
  return {};
}

Result<std::size_t> add_code(const Indexes& indexes, std::size_t reader, const Asked& asked,
                             std::size_t room, std::vector<Cure>& cures) {
  auto connection = indexes.readers[reader]->connection();
  if (!connection) return connection.error();
  std::size_t found = 0;
  auto read = for_each_row(
      **connection, kCures,
      [&](const Statement& row) {
        if (found == room) return;
        ++found;
        cures.push_back({asked.finding, indexes.shown_id(reader, row.text(0), row.text(1)),
                         std::string(row.text(2)), std::string(row.text(3))});
      },
      asked.finding, asked.language, asked.chip);
  if (!read) return read.error();
  return found;
}

Result<std::size_t> add_advice(const Indexes& indexes, std::size_t reader, const Asked& asked,
                               std::size_t room, std::vector<Cure>& cures) {
  auto connection = indexes.readers[reader]->connection();
  if (!connection) return connection.error();
  std::size_t found = 0;
  Status status;
  auto read = for_each_row(
      **connection, kAdvice,
      [&](const Statement& row) {
        const bool own = row.text(2) == "pattern";
        if (!status || found == room || (own && found > 0)) return;
        auto text = decompress(row.blob(4));
        if (!text) return void(status = text.error());
        auto section =
            heading_with(*text, advice_heading(row.text(2), row.text(3), asked.language));
        if (section.empty()) return;
        ++found;
        cures.push_back({asked.finding, indexes.shown_id(reader, row.text(0), row.text(1)),
                         std::move(section), own ? "advice" : "fragment"});
      },
      asked.finding, asked.language, asked.chip);
  if (!read) return read.error();
  if (!status) return status.error();
  return found;
}

}  // namespace

Result<std::vector<Cure>> find_cures(const Indexes& indexes, const QuerySituation& situation) {
  const auto chip =
      situation.architecture.empty() ? std::string{} : normal_architecture(situation.architecture);
  std::vector<Cure> cures;
  for (const auto& finding : situation.findings) {
    const Asked asked{finding, facet_value(situation.language), chip};
    std::size_t found = 0;
    for (const auto add : {add_code, add_advice}) {
      for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
        auto more = add(indexes, r, asked, kPerFinding - found, cures);
        if (!more) return more.error();
        found += *more;
      }
      if (found > 0) break;
    }
  }
  return cures;
}

}  // namespace ratchet::kbs
