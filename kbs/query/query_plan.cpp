#include "kbs/query/query_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kbs/text/tokenizer.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMaxTerms = 40;
constexpr std::size_t kMaxWords = 400;
constexpr double kPartsWeight = 0.5;  // of the parts of a name, relative to the whole name
constexpr double kAliasWeight = 0.6;  // of an alias, relative to the user's own word

// Words without topical meaning.
constexpr std::array<std::string_view, 108> kStopWords{
    "a",       "about", "after", "all",     "also",    "am",     "an",    "and",   "any",   "are",
    "as",      "at",    "be",    "because", "been",    "before", "being", "but",   "by",    "can",
    "could",   "did",   "do",    "does",    "doing",   "done",   "each",  "for",   "from",  "get",
    "had",     "has",   "have",  "he",      "how",     "i",      "if",    "in",    "into",  "is",
    "it",      "its",   "just",  "may",     "me",      "might",  "more",  "must",  "my",    "no",
    "nor",     "not",   "of",    "off",     "on",      "once",   "only",  "or",    "other", "our",
    "out",     "over",  "own",   "same",    "shall",   "should", "so",    "some",  "such",  "than",
    "that",    "the",   "their", "them",    "then",    "there",  "these", "they",  "this",  "those",
    "through", "to",    "too",   "under",   "until",   "up",     "upon",  "us",    "very",  "via",
    "was",     "we",    "were",  "what",    "when",    "where",  "which", "while", "who",   "whom",
    "whose",   "why",   "will",  "with",    "without", "would",  "you",   "your"};

bool is_stop_word(std::string_view word) {
  return std::ranges::binary_search(kStopWords, word);
}

class Planner {
 public:
  explicit Planner(const Aliases& aliases) : aliases_(aliases) {}

  QueryPlan plan(std::string_view text) {
    auto words = query_words(text, kMaxWords);
    plan_.cut = words.size() >= kMaxWords;
    const bool some =
        std::ranges::any_of(words, [](const auto& word) { return !is_stop_word(word.surface); });
    for (const auto& word : words) {
      term_of_.push_back(-1);
      if (some && is_stop_word(word.surface)) continue;
      term_of_.back() = add_term(word);
    }
    for (std::size_t i = 0; i < words.size(); ++i) add_aliases(words, i);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (!words[i].compound.empty())
        for (const auto part : {i, i + 1})
          add_alternative(term_of_[part], words[i].compound, kAliasWeight / 2);
    return std::move(plan_);
  }

 private:
  std::uint16_t phrase(const std::string& text) {
    const auto [at, fresh] = phrase_of_.emplace(text, plan_.phrases.size());
    if (fresh) plan_.phrases.push_back(text);
    return static_cast<std::uint16_t>(at->second);
  }

  int add_term(const QueryWord& word) {
    for (std::size_t i = 0; i < plan_.terms.size(); ++i)
      if (plan_.terms[i].surface == word.surface) return static_cast<int>(i);
    if (plan_.terms.size() == kMaxTerms) {
      plan_.cut = true;
      return -1;
    }
    PlanTerm term{word.surface, {{Alternative::Kind::exact, 1, {phrase(word.term)}}}};
    Alternative parts{Alternative::Kind::parts, kPartsWeight, {}};
    // Dotted prefixes would only repeat the parts that they contain.
    for (const auto& part : word.parts)
      if (part.find('.') == std::string::npos && part.find(':') == std::string::npos)
        parts.phrases.push_back(phrase(part));
    if (!parts.phrases.empty()) term.alternatives.push_back(std::move(parts));
    plan_.terms.push_back(std::move(term));
    return static_cast<int>(plan_.terms.size()) - 1;
  }

  void add_aliases(const std::vector<QueryWord>& words, std::size_t begin) {
    std::string key;
    const auto last = std::min(words.size(), begin + aliases_.longest());
    for (std::size_t end = begin; end < last; ++end) {
      if (end > begin) key += ' ';
      key += words[end].term;
      const auto* replacements = aliases_.find(key);
      if (replacements == nullptr) continue;
      const double weight = kAliasWeight / static_cast<double>(end - begin + 1);
      for (const auto& replacement : *replacements)
        for (auto i = begin; i <= end; ++i) add_alternative(term_of_[i], replacement, weight);
    }
  }

  void add_alternative(int term, const std::string& replacement, double weight) {
    if (term < 0) return;
    auto& alternatives = plan_.terms[static_cast<std::size_t>(term)].alternatives;
    alternatives.push_back({Alternative::Kind::alias, weight, {phrase(replacement)}});
  }

  const Aliases& aliases_;
  QueryPlan plan_;
  std::unordered_map<std::string, std::size_t> phrase_of_;
  std::vector<int> term_of_;
};

std::string joined_terms(std::string_view text, std::size_t& count) {
  std::string out;
  const auto words = query_words(text, 16);
  count = words.size();
  for (const auto& word : words) out.append(out.empty() ? "" : " ").append(word.term);
  return out;
}

}  // namespace

void Aliases::add(const std::vector<Alias>& aliases) {
  for (const auto& [word, replacement] : aliases) {
    std::size_t words = 0;
    std::size_t unused = 0;
    const auto from = joined_terms(word, words);
    const auto to = joined_terms(replacement, unused);
    if (from.empty() || to.empty() || from == to) continue;
    auto& known = replacements_[from];
    if (std::ranges::find(known, to) == known.end()) known.push_back(to);
    longest_ = std::max(longest_, words);
  }
}

const std::vector<std::string>* Aliases::find(const std::string& phrase) const {
  const auto found = replacements_.find(phrase);
  return found != replacements_.end() ? &found->second : nullptr;
}

QueryPlan plan_query(std::string_view text, const Aliases& aliases) {
  return Planner(aliases).plan(text);
}

}  // namespace ratchet::kbs
