#include "kbs/query/matches.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kbs/index/fts.h"
#include "kbs/query/match_plan.h"

namespace ratchet::kbs {
namespace {

/// An FTS5 expression, with the phrase at each of its positions.
struct Expression {
  std::string text;
  std::vector<std::uint16_t> phrase_of;  ///< see `Postings::phrase_of`

  enum class Collected : bool { no, yes };
  void add(const QueryPlan& plan, std::span<const MatchWord> words, std::string_view joint,
           Collected collected) {
    std::string_view between;
    for (const auto& word : words) {
      // Terms contain no quotes, because the tokenizer splits at them.
      text += fmt::format("{}\"{}\"", between, plan.phrases[word.phrase]);
      phrase_of.push_back(collected == Collected::yes ? word.phrase : Postings::kNone);
      between = joint;
    }
  }
};

Expression expression_of(const QueryPlan& plan, const MatchPlan& match) {
  using Collected = Expression::Collected;
  const std::span words(match.words);
  Expression expression;
  if (match.finding == words.size() && match.required == 1) {
    expression.add(plan, words, " OR ", Collected::yes);
    return expression;
  }
  expression.text = "(";
  expression.add(plan, words.first(match.finding), match.required > 1 ? " AND " : " OR ",
                 Collected::no);
  expression.text += ") AND (";
  expression.add(plan, words.first(match.looking), " OR ", Collected::yes);
  expression.text += ")";
  return expression;
}

/// By phrase: the phrase of the word before it in the query.
std::vector<std::uint16_t> phrases_before(const QueryPlan& plan) {
  std::vector<std::uint16_t> before(plan.phrases.size(), Postings::kNone);
  const auto phrase_of = [](const PlanTerm& term) {
    return term.alternatives.front().phrases.front();
  };
  for (std::size_t t = 1; t < plan.terms.size(); ++t) {
    auto& one = before[phrase_of(plan.terms[t])];
    if (one == Postings::kNone) one = phrase_of(plan.terms[t - 1]);
  }
  return before;
}

}  // namespace

Status find_matches(const QueryPlan& plan, Connection& connection, Area area,
                    std::vector<double>& frequencies) {
  auto match = plan_match(plan, connection, area);
  if (!match) return match.error();
  connection.postings->clear();
  frequencies = match->frequencies;
  if (match->words.empty()) return {};
  auto expression = expression_of(plan, *match);
  connection.postings->phrase_of = std::move(expression.phrase_of);
  if (area == Area::pages && plan.terms.size() > 1)
    connection.postings->before = phrases_before(plan);
  auto statement = connection.prepared(
      area == Area::pages ? "SELECT collect(fts) FROM fts WHERE fts MATCH ? LIMIT ?"
                          : "SELECT collect_code(code) FROM code WHERE code MATCH ? LIMIT ?");
  if (!statement) return statement.error();
  return bind_all(**statement, expression.text, match->rows).run();
}

}  // namespace ratchet::kbs
