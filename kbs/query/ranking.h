#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kbs/index/fts.h"
#include "kbs/index/index_statistics.h"
#include "kbs/query/query_plan.h"

namespace ratchet::kbs {

/// What one index file contributes to a query.
struct RankingSource {
  const Postings* postings = nullptr;
  const IndexStatistics* statistics = nullptr;
  const CodeIndexStatistics* code = nullptr;
  const std::vector<double>* frequencies = nullptr;  ///< see `MatchPlan`
};

/// A document and how well it matches.
struct Scored {
  std::uint32_t source = 0;
  std::int64_t row = 0;
  bool code = false;  ///< the row is one of the full-text index of code
  double score = 0;
  double coverage = 0;        ///< share of the query's information content that matched, 0..1
  double about = 0;           ///< the same, counting matches in id, title and tags only
  std::uint64_t matched = 0;  ///< a bit for each term of the plan
  std::uint32_t first = 0;    ///< its postings: index of the first one, and their number
  std::uint32_t count = 0;
};

/// Scores every matching document by BM25 over weighted fields, with term frequencies summed over
/// all sources. Unordered. Pure.
///
/// A term's score is that of its best alternative; an identifier's parts count only if all occur.
/// Words that stand together as in the query add to it.
[[nodiscard]] std::vector<Scored> score_matches(const QueryPlan& plan,
                                                std::span<const RankingSource> sources);

/// The same for parts of code: each term counts once, more in the name than in the body, and long
/// parts score lower. Only the best part of each file is returned. Unordered. Pure.
[[nodiscard]] std::vector<Scored> score_code(const QueryPlan& plan,
                                             std::span<const RankingSource> sources);

/// Lists each term under the highest-weighted field that it matched in: "title: tmem; body: alloc;
/// missing: freed".
[[nodiscard]] std::string explain(const QueryPlan& plan, const RankingSource& source,
                                  const Scored& scored);

}  // namespace ratchet::kbs
