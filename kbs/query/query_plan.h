#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbs/documents/page_reader.h"

namespace ratchet::kbs {

/// One way in which a document can satisfy a term of the query: all phrases of it occur.
struct Alternative {
  enum class Kind : std::uint8_t { exact, parts, alias };
  Kind kind = Kind::exact;
  double weight = 1;
  std::vector<std::uint16_t> phrases;  ///< indices into `QueryPlan::phrases`
};

/// A word of the query; a document's score for it is that of its best alternative.
struct PlanTerm {
  std::string surface;
  std::vector<Alternative> alternatives;
};

/// What is asked of the full-text index.
struct QueryPlan {
  std::vector<PlanTerm> terms;       ///< at most 64
  std::vector<std::string> phrases;  ///< index terms separated by blanks
  bool cut = false;                  ///< the text held more words than are searched
};

/// Spelling variants, by the index terms of the user's phrase.
class Aliases {
 public:
  void add(const std::vector<Alias>& aliases);
  /// Replacements (as index terms separated by blanks) of a phrase of index terms.
  [[nodiscard]] const std::vector<std::string>* find(const std::string& phrase) const;
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  std::unordered_map<std::string, std::vector<std::string>> replacements_;
  std::size_t longest_ = 0;
};

/// Reads a query of any text: stop words dropped (unless nothing else is left), identifiers whole
/// and in parts, aliases added beside the user's words, never instead of them. Pure.
[[nodiscard]] QueryPlan plan_query(std::string_view text, const Aliases& aliases);

}  // namespace ratchet::kbs
