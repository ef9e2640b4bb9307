#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbs/documents/page_reader.h"

namespace ratchet::kbs {

/// One way in which a document can match a term of the query: it contains all of these phrases.
struct Alternative {
  enum class Kind : std::uint8_t { exact, parts, alias };
  Kind kind = Kind::exact;
  double weight = 1;
  std::vector<std::uint16_t> phrases;  ///< indices into `QueryPlan::phrases`
};

/// A word of the query. A document's score for it is that of the best alternative.
struct PlanTerm {
  std::string surface;
  std::vector<Alternative> alternatives;
};

/// A query as terms and phrases of the full-text index.
struct QueryPlan {
  std::vector<PlanTerm> terms;       ///< at most 64
  std::vector<std::string> phrases;  ///< index terms separated by spaces
  bool cut = false;                  ///< the text had more words than are searched
};

/// Spelling variants by phrase, as index terms.
class Aliases {
 public:
  void add(const std::vector<Alias>& aliases);
  /// Replacements of a phrase; both are index terms separated by spaces. Null when there are none.
  [[nodiscard]] const std::vector<std::string>* find(const std::string& phrase) const;
  /// Largest number of words in a phrase.
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  std::unordered_map<std::string, std::vector<std::string>> replacements_;
  std::size_t longest_ = 0;
};

/// Plans a query from any text: drops stop words (unless there is nothing else), searches
/// identifiers whole and in parts, and adds aliases as alternatives to the user's words. Pure.
[[nodiscard]] QueryPlan plan_query(std::string_view text, const Aliases& aliases);

}  // namespace ratchet::kbs
