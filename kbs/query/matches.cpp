#include "kbs/query/matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kbs/index/fts.h"
#include "kbs/index/posting_list.h"
#include "kbs/query/match_plan.h"

namespace ratchet::kbs {
namespace {

/// What FTS5 is asked, and which phrase stands at each place of it.
struct Expression {
  std::string text;
  std::vector<std::uint16_t> phrase_of;  ///< see `Postings::phrase_of`

  enum class Collected : bool { no, yes };
  void add(const QueryPlan& plan, std::span<const MatchWord> words, std::string_view joint,
           Collected collected) {
    std::string_view between;
    for (const auto& word : words) {
      // Terms hold no quotes: the tokenizer cuts there.
      text += fmt::format("{}\"{}\"", between, plan.phrases[word.phrase]);
      phrase_of.push_back(collected == Collected::yes ? word.phrase : Postings::kNone);
      between = joint;
    }
  }
};

Status ask(Connection& connection, std::string_view sql, Expression expression, std::size_t limit) {
  connection.postings->phrase_of = std::move(expression.phrase_of);
  auto statement = connection.prepared(sql);
  if (!statement) return statement.error();
  return (*statement)
      ->bind(1, std::string_view(expression.text))
      .bind(2, static_cast<std::int64_t>(limit))
      .run();
}

/// The pages that match, put together from what FTS5 collected and from lists.
class PageMatch {
 public:
  PageMatch(const QueryPlan& query, const MatchPlan& match, Connection& connection,
            std::size_t rows)
      : query_(query), match_(match), connection_(connection), marks_(rows) {}

  Status run() {
    if (auto done = ask_index(); !done) return done;
    for (std::size_t i = 0; i < match_.looking; ++i)
      if (listed(match_.words[i]))
        if (auto done = read_list(i); !done) return done;
    sort_by_row();
    return {};
  }

 private:
  /// Frequent terms are counted, and have a list.
  [[nodiscard]] bool listed(const MatchWord& word) const {
    return match_.frequencies[word.phrase] >= 0;
  }
  [[nodiscard]] bool found(std::uint32_t row) const { return marks_[row] >= match_.required; }

  /// Words without a list: rare ones, and several in a row.
  Status ask_index() {
    std::vector<MatchWord> rare;
    std::vector<bool> finds(query_.phrases.size());
    for (std::size_t i = 0; i < match_.looking; ++i) {
      if (listed(match_.words[i])) continue;
      rare.push_back(match_.words[i]);
      finds[match_.words[i].phrase] = i < match_.finding;
    }
    if (rare.empty()) return {};
    Expression expression;
    expression.add(query_, rare, " OR ", Expression::Collected::yes);
    auto& collected = *connection_.postings;
    if (auto done = ask(connection_, "SELECT collect(fts) FROM fts WHERE fts MATCH ? LIMIT ?",
                        std::move(expression), marks_.size());
        !done)
      return done;
    for (const auto& posting : collected.postings) {
      const auto row = static_cast<std::uint32_t>(collected.rows[posting.row]);
      if (row >= marks_.size()) continue;
      if (finds[posting.phrase]) ++marks_[row];
      entries_.push_back({row, posting.phrase, posting.counts});
    }
    return {};
  }

  /// Words that find come first, so that those which are looked up know what was found.
  Status read_list(std::size_t word) {
    const auto phrase = match_.words[word].phrase;
    auto statement = connection_.prepared("SELECT postings FROM frequent WHERE term=? AND area=0");
    if (!statement) return statement.error();
    auto there = (*statement)->bind(1, std::string_view(query_.phrases[phrase])).step();
    if (!there) return there.error();
    if (!*there) return {};
    const bool finds = word < match_.finding;
    for (PostingListReader list((*statement)->blob(0)); list.next();) {
      const auto row = static_cast<std::uint32_t>(list.row());
      if (row >= marks_.size()) break;
      if (finds) ++marks_[row];
      if (finds || found(row)) entries_.push_back({row, phrase, list.counts()});
    }
    return {};
  }

  /// Leaves what was found in the postings, rows ascending.
  void sort_by_row() {
    std::vector<std::uint32_t> begin(marks_.size() + 1);
    for (const auto& entry : entries_)
      if (found(entry.row)) ++begin[entry.row + 1];
    auto& out = *connection_.postings;
    out.rows.clear();
    std::vector<std::uint32_t> place(marks_.size());
    for (std::size_t row = 0; row < marks_.size(); ++row) {
      const bool kept = begin[row + 1] > 0 && out.rows.size() < match_.rows;
      if (kept) {
        place[row] = static_cast<std::uint32_t>(out.rows.size());
        out.rows.push_back(static_cast<std::int64_t>(row));
      } else {
        begin[row + 1] = 0;
        marks_[row] = 0;
      }
      begin[row + 1] += begin[row];
    }
    out.postings.resize(begin.back());
    for (const auto& entry : entries_)
      if (found(entry.row))
        out.postings[begin[entry.row]++] = {place[entry.row], entry.phrase, entry.counts};
  }

  const QueryPlan& query_;
  const MatchPlan& match_;
  Connection& connection_;
  std::vector<std::uint16_t> marks_;  // by row: how many finding words it holds
  std::vector<Posting> entries_;      // their rows are those of pages until they are sorted
};

}  // namespace

Status match_pages(const QueryPlan& plan, Connection& connection, std::size_t rows,
                   std::vector<double>& frequencies) {
  auto match = plan_match(plan, connection, Area::pages);
  if (!match) return match.error();
  connection.postings->clear();
  frequencies = match->frequencies;
  if (match->words.empty()) return {};
  return PageMatch(plan, *match, connection, rows).run();
}

Status match_code(const QueryPlan& plan, Connection& connection, std::vector<double>& frequencies) {
  auto match = plan_match(plan, connection, Area::code);
  if (!match) return match.error();
  connection.postings->clear();
  frequencies = std::move(match->frequencies);
  const std::span words(match->words);
  if (words.empty()) return {};
  using Collected = Expression::Collected;
  Expression expression;
  if (match->finding == words.size() && match->required == 1) {
    expression.add(plan, words, " OR ", Collected::yes);
  } else {
    expression.text = "(";
    expression.add(plan, words.first(match->finding), match->required > 1 ? " AND " : " OR ",
                   Collected::no);
    expression.text += ") AND (";
    expression.add(plan, words.first(match->looking), " OR ", Collected::yes);
    expression.text += ")";
  }
  return ask(connection, "SELECT collect_code(code) FROM code WHERE code MATCH ? LIMIT ?",
             std::move(expression), match->rows);
}

}  // namespace ratchet::kbs
