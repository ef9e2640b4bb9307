#pragma once

#include <cstdint>
#include <vector>

#include "kbs/index_reader.h"
#include "kbs/knowledge.h"

namespace ratchet::kbs {

/// Scopes by name; `sources` stands for docs, blogs, contests and prs.
/// Errors: `invalid_argument` naming an unknown one.
Result<std::uint32_t> scope_mask(const std::vector<std::string>& names);

/// The filters of one query, resolved against one index.
class Filter {
 public:
  /// `rows`: one more than the highest row id.
  static Result<Filter> make(const KnowledgeQuery& query, Connection& connection, std::size_t rows);

  [[nodiscard]] bool passes(std::int64_t row, const DocumentStatistics& document) const {
    return (scopes_ >> static_cast<unsigned>(document.scope()) & 1U) != 0 &&
           (!narrowed_ || allowed_[static_cast<std::size_t>(row)] != 0);
  }
  [[nodiscard]] bool restricts() const { return restricts_; }
  /// Documents left out because their architecture label is not believed.
  [[nodiscard]] int unverified() const { return unverified_; }

 private:
  std::uint32_t scopes_ = ~0U;
  std::vector<char> allowed_;  // by row, when narrowed
  bool narrowed_ = false;
  bool restricts_ = false;
  int unverified_ = 0;
};

}  // namespace ratchet::kbs
