#include "kbs/query/match_plan.h"

#include <algorithm>
#include <limits>

namespace ratchet::kbs {
namespace {

/// Limit on the summed frequencies of the words that select documents; more frequent words are only
/// looked up. Answers to the development judgments are the same from 1,500 to 12,000 pages.
constexpr double kFindPages = 2'000;
constexpr double kFindCode = 1'000;
/// Limit on the summed frequencies of the words that are looked up.
constexpr double kLookUpPages = 30'000;
constexpr double kLookUpCode = 5'000;
constexpr std::size_t kRows = 20'000;
// Limits for queries that consist of common words only; the first one applies to code.
constexpr std::size_t kRowsOfCommon = 1'500;
constexpr std::size_t kLookedUpOfCommon = 8;

Result<double> frequency_of(Connection& connection, Area area, std::string_view term) {
  auto statement = connection.prepared("SELECT count FROM frequent WHERE term=? AND area=?");
  if (!statement) return statement.error();
  auto row = (*statement)->bind(1, term).bind(2, static_cast<std::int64_t>(area)).step();
  if (!row) return row.error();
  return *row ? static_cast<double>((*statement)->integer(0)) : -1.0;
}

class Builder {
 public:
  Builder(const QueryPlan& plan, Area area) : plan_(plan), area_(area) {}

  Result<MatchPlan> build(Connection& connection) {
    match_.frequencies.assign(plan_.phrases.size(), -1);
    if (auto done = count(connection); !done) return done.error();
    if (match_.words.empty()) return std::move(match_);
    std::ranges::sort(match_.words, [](const MatchWord& a, const MatchWord& b) {
      return a.frequency != b.frequency ? a.frequency < b.frequency : a.phrase < b.phrase;
    });
    choose();
    if (match_.finding == 0) settle_for_common();
    return std::move(match_);
  }

 private:
  Status count(Connection& connection) {
    std::vector<bool> own(plan_.phrases.size());
    for (const auto& term : plan_.terms) own[term.alternatives.front().phrases.front()] = true;
    for (std::size_t i = 0; i < plan_.phrases.size(); ++i) {
      const std::string_view phrase = plan_.phrases[i];
      // A phrase of several words is at most as frequent as its rarest word. The index of code has
      // no positions and cannot find phrases.
      if (area_ == Area::code && phrase.find(' ') != std::string_view::npos) continue;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t begin = 0; begin < phrase.size();) {
        const auto end = std::min(phrase.find(' ', begin), phrase.size());
        auto one = frequency_of(connection, area_, phrase.substr(begin, end - begin));
        if (!one) return one.error();
        least = std::min(least, *one < 0 ? kFrequent : *one);
        if (begin == 0 && end == phrase.size()) match_.frequencies[i] = *one;
        begin = end + 1;
      }
      match_.words.push_back({static_cast<std::uint16_t>(i), least, own[i]});
    }
    return {};
  }

  /// The rarest words select documents, and more words are looked up, each within its budget.
  void choose() {
    auto& words = match_.words;
    const double budget = area_ == Area::pages ? kFindPages : kFindCode;
    const double walked = area_ == Area::pages ? kLookUpPages : kLookUpCode;
    double sum = 0;
    while (match_.finding < words.size() && (sum += words[match_.finding].frequency) <= budget)
      ++match_.finding;
    match_.looking = match_.finding;
    sum = 0;
    while (match_.looking < words.size() && (sum += words[match_.looking].frequency) <= walked)
      ++match_.looking;
    match_.rows = kRows;
  }

  /// For queries of common words only: documents must contain the user's two rarest words.
  void settle_for_common() {
    const auto others = std::ranges::stable_partition(match_.words, &MatchWord::first_choice);
    const auto own = match_.words.size() - others.size();
    match_.finding = std::clamp<std::size_t>(own, 1, 2);
    match_.required = match_.finding;
    match_.looking = std::min(match_.words.size(), kLookedUpOfCommon);
    if (area_ == Area::code) match_.rows = kRowsOfCommon;
  }

  const QueryPlan& plan_;
  Area area_;
  MatchPlan match_;
};

}  // namespace

Result<MatchPlan> plan_match(const QueryPlan& plan, Connection& connection, Area area) {
  return Builder(plan, area).build(connection);
}

}  // namespace ratchet::kbs
