#include "kbs/query/code_search.h"

#include <algorithm>
#include <utility>

#include "kbs/index/code_row.h"
#include "kbs/query/hits.h"
#include "kbs/query/matches.h"

namespace ratchet::kbs {

Status CodeSearch::make_filters(const KnowledgeQuery& query) {
  for (std::size_t r = 0; r < loans_.size(); ++r) {
    auto filter = CodeFilter::make(query, *loans_[r], indexes_.readers[r]->code());
    if (!filter) return filter.error();
    filters_.push_back(*std::move(filter));
  }
  return {};
}

RankingSource CodeSearch::source(std::size_t reader) const {
  const auto& index = *indexes_.readers[reader];
  return {&areas_[reader].postings, &index.statistics(), &index.code(),
          &areas_[reader].frequencies};
}

const CodeStatistics& CodeSearch::file_of(const Scored& scored) const {
  const auto file = static_cast<std::size_t>(CodeRow::of(scored.row).file);
  return indexes_.readers[scored.source]->code().files[file];
}

Scope CodeSearch::scope_of(const Scored& scored) const {
  return static_cast<Scope>(file_of(scored).scope);
}

/// False when there is no code to search.
Result<bool> CodeSearch::collect() {
  bool any = false;
  areas_.resize(loans_.size());
  for (std::size_t r = 0; r < loans_.size(); ++r) {
    auto& area = areas_[r];
    area.frequencies.assign(plan_.phrases.size(), -1);
    if (indexes_.readers[r]->code().parts == 0 || filters_[r].excludes_all()) continue;
    any = true;
    // The collector writes to the connection's postings, so their contents are set aside meanwhile.
    std::swap(*loans_[r]->postings, area.postings);
    auto done = find_matches(plan_, *loans_[r], kbs::Area::code, area.frequencies);
    std::swap(*loans_[r]->postings, area.postings);
    if (!done) return done.error();
  }
  return any;
}

Result<std::vector<Scored>> CodeSearch::find(std::size_t head, int& total) {
  total = 0;
  auto any = collect();
  if (!any) return any.error();
  if (!*any) return std::vector<Scored>{};
  std::vector<RankingSource> sources;
  for (std::size_t r = 0; r < loans_.size(); ++r) sources.push_back(source(r));
  auto found = score_code(plan_, sources);
  std::erase_if(found, [&](const Scored& scored) {
    return !filters_[scored.source].passes(file_of(scored));
  });
  total = static_cast<int>(found.size());
  head = std::min(found.size(), head);
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(head),
                            [](const Scored& a, const Scored& b) {
                              if (a.score != b.score) return a.score > b.score;
                              return a.source != b.source ? a.source < b.source : a.row < b.row;
                            });
  found.resize(head);
  return found;
}

Result<QueryHit> CodeSearch::hit(const Scored& scored, const std::vector<std::string>& words) {
  auto hit = read_code_hit(indexes_, scored.source, *loans_[scored.source], scored.row, words);
  if (hit) hit->why = explain(plan_, source(scored.source), scored);
  return hit;
}

}  // namespace ratchet::kbs
