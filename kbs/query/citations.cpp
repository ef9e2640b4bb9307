#include "kbs/query/citations.h"

#include <algorithm>

namespace ratchet::kbs {
namespace {

constexpr double kAboutAll = 0.999;  // required share of the query that the citing page is about
constexpr double kCitedShare = 0.9;  // share of its score that the page passes on
constexpr std::size_t kCitingPages = 3;

std::vector<Scored> citing_pages(std::span<const RankingSource> sources,
                                 const std::vector<Scored>& ranked) {
  std::vector<Scored> citing;
  for (const auto& scored : ranked)
    if (scored.about >= kAboutAll &&
        sources[scored.source].statistics->of(scored.row).scope() == Scope::wiki)
      citing.push_back(scored);
  const auto count = std::min(citing.size(), kCitingPages);
  std::ranges::partial_sort(citing, citing.begin() + static_cast<std::ptrdiff_t>(count),
                            [](const auto& a, const auto& b) { return a.score > b.score; });
  citing.resize(count);
  return citing;
}

void raise(const Scored& page, std::int64_t row, std::vector<Scored>& ranked) {
  // A linear search, because a map of all matches would cost more for the few cited pages.
  auto cited = std::ranges::find_if(ranked, [&](const Scored& scored) {
    return scored.row == row && scored.source == page.source;
  });
  if (cited == ranked.end()) cited = ranked.insert(cited, {.source = page.source, .row = row});
  // Below the page itself, in the order of their own scores.
  const double own = cited->score;
  cited->score = std::max(
      own, std::min(own, page.score) * (1 - kCitedShare) + page.score * kCitedShare * 0.98);
}

}  // namespace

Result<CitedBy> raise_cited(const Indexes& indexes, std::span<const IndexReader::Loan> loans,
                            std::span<const RankingSource> sources, std::vector<Scored>& ranked) {
  CitedBy cited_by;
  if (!indexes.follow_links) return cited_by;
  for (const auto& page : citing_pages(sources, ranked)) {
    auto read = for_each_row(
        *loans[page.source],
        "SELECT cited.rowid, page.id, page.corpus FROM doc AS page JOIN source ON "
        "source.doc=page.rowid JOIN doc AS cited ON cited.corpus=page.corpus AND "
        "cited.own_id=source.id WHERE page.rowid=?",
        [&](const Statement& row) {
          auto id = indexes.shown_id(page.source, row.text(1), row.text(2));
          if (cited_by.emplace(key_of(page.source, row.integer(0)), std::move(id)).second)
            raise(page, row.integer(0), ranked);
        },
        page.row);
    if (!read) return read.error();
  }
  return cited_by;
}

}  // namespace ratchet::kbs
