#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/query/indexes.h"
#include "kbs/query/requests.h"

namespace ratchet::kbs {

/// A bit for each named scope; `sources` stands for docs, blogs, contests and prs. No names: all.
/// Errors: `invalid_argument` naming an unknown scope.
Result<std::uint32_t> scope_mask(const std::vector<std::string>& names);

/// Refuses a value of `kind`, `language`, `symptom` or `confidence` that no page and no code has:
/// it would find nothing, silently. `loans` are connections to the indexes' readers, in their
/// order.
Status check_filters(const KnowledgeQuery& query, const Indexes& indexes,
                     std::span<const IndexReader::Loan> loans);

inline constexpr std::uint32_t kCodeScopes =
    1U << static_cast<unsigned>(Scope::diffs) | 1U << static_cast<unsigned>(Scope::snapshots);

/// The filters of one query, resolved against the pages of one index.
class Filter {
 public:
  /// `rows`: highest row id plus one.
  static Result<Filter> make(const KnowledgeQuery& query, Connection& connection, std::size_t rows);

  [[nodiscard]] bool passes(std::int64_t row, const DocumentStatistics& document) const {
    return (scopes_ >> static_cast<unsigned>(document.scope()) & 1U) != 0 &&
           (!narrowed_ || allowed_[static_cast<std::size_t>(row)] != 0);
  }
  [[nodiscard]] bool restricts() const { return restricts_; }
  /// The query asks for code only.
  [[nodiscard]] bool excludes_all() const { return (scopes_ & ~kCodeScopes) == 0; }
  /// Number of documents left out because their architecture label is unverified.
  [[nodiscard]] int unverified() const { return unverified_; }

 private:
  std::uint32_t scopes_ = ~0U;
  std::vector<char> allowed_;  // by row, when narrowed
  bool narrowed_ = false;
  bool restricts_ = false;
  int unverified_ = 0;
};

/// The filters of one query, resolved against the code of one index. Code has neither confidence
/// nor symptoms, so queries that filter by these find no code.
class CodeFilter {
 public:
  static Result<CodeFilter> make(const KnowledgeQuery& query, Connection& connection,
                                 const CodeIndexStatistics& statistics);

  [[nodiscard]] bool passes(const CodeStatistics& file) const {
    return (scopes_ >> file.scope & 1U) != 0 && (languages_.empty() || languages_[file.language]) &&
           (!narrowed_ || allowed_[file.bundle] != 0);
  }
  /// No code can pass.
  [[nodiscard]] bool excludes_all() const { return (scopes_ & kCodeScopes) == 0; }

 private:
  std::uint32_t scopes_ = kCodeScopes;
  std::vector<bool> languages_;  // by language, when asked for
  std::vector<char> allowed_;    // by bundle, when narrowed
  bool narrowed_ = false;
};

}  // namespace ratchet::kbs
