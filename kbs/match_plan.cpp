#include "kbs/match_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kbs/fts.h"

namespace ratchet::kbs {
namespace {

/// Documents that the words which find them may stand in, all together; the words behind that are
/// only looked up. Chosen so that the wiki and sources of a few thousand pages are searched whole.
constexpr double kFindPages = 12'000;
constexpr double kFindCode = 1'500;
/// Postings of common words that are walked past when they are looked up.
constexpr double kLookUp = 120'000;
constexpr int kRows = 20'000;
constexpr int kRowsOfCommon = 1'500;

struct Word {
  std::uint16_t phrase = 0;
  double frequency = 0;
  bool first_choice = false;  // the user's own word, neither a part nor an alias of it
};

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
    if (words_.empty()) return std::move(match_);
    std::ranges::sort(words_, [](const Word& a, const Word& b) {
      return a.frequency != b.frequency ? a.frequency < b.frequency : a.phrase < b.phrase;
    });
    choose();
    write();
    return std::move(match_);
  }

 private:
  Status count(Connection& connection) {
    std::vector<bool> own(plan_.phrases.size());
    for (const auto& term : plan_.terms) own[term.alternatives.front().phrases.front()] = true;
    for (std::size_t i = 0; i < plan_.phrases.size(); ++i) {
      const std::string_view phrase = plan_.phrases[i];
      // Several words in a row: as rare as the rarest of them. The index of code knows no order.
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
      words_.push_back({static_cast<std::uint16_t>(i), least, own[i]});
    }
    return {};
  }

  /// The rarest words find; more of them may be looked up.
  void choose() {
    const double budget = area_ == Area::pages ? kFindPages : kFindCode;
    double sum = 0;
    while (finding_ < words_.size() && (sum += words_[finding_].frequency) <= budget) ++finding_;
    looking_ = finding_;
    sum = 0;
    while (looking_ < words_.size() && (sum += words_[looking_].frequency) <= kLookUp) ++looking_;
  }

  void write() {
    match_.limit = kRows;
    if (finding_ == words_.size()) return add(0, words_.size(), " OR ");
    if (finding_ > 0) {
      match_.expression = "(";
      add_silently(0, finding_, " OR ");
      match_.expression += ") AND (";
      add(0, std::max(looking_, finding_), " OR ");
      match_.expression += ")";
      return;
    }
    // Only common words: documents that hold the two rarest of the user's own.
    match_.limit = kRowsOfCommon;
    std::ranges::stable_partition(words_, &Word::first_choice);
    const auto both = std::min<std::size_t>(
        2, static_cast<std::size_t>(std::ranges::count_if(words_, &Word::first_choice)));
    match_.expression = "(";
    add_silently(0, std::max<std::size_t>(both, 1), " AND ");
    match_.expression += ") AND (";
    add(0, std::min<std::size_t>(words_.size(), 8), " OR ");
    match_.expression += ")";
  }

  void add(std::size_t begin, std::size_t end, std::string_view joint) {
    for (auto i = begin; i < end; ++i) {
      if (i > begin) match_.expression += joint;
      // Terms hold no quotes: the tokenizer cuts there.
      match_.expression += fmt::format("\"{}\"", plan_.phrases[words_[i].phrase]);
      match_.phrase_of.push_back(words_[i].phrase);
    }
  }

  void add_silently(std::size_t begin, std::size_t end, std::string_view joint) {
    const auto before = match_.phrase_of.size();
    add(begin, end, joint);
    std::fill(match_.phrase_of.begin() + static_cast<std::ptrdiff_t>(before),
              match_.phrase_of.end(), Postings::kNone);
  }

  const QueryPlan& plan_;
  Area area_;
  MatchPlan match_;
  std::vector<Word> words_;
  std::size_t finding_ = 0;
  std::size_t looking_ = 0;
};

}  // namespace

Result<MatchPlan> plan_match(const QueryPlan& plan, Connection& connection, Area area) {
  return Builder(plan, area).build(connection);
}

}  // namespace ratchet::kbs
