#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <vector>

#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// How often one phrase occurs in each field of one document.
struct Posting {
  std::uint32_t row = 0;  ///< index into `Postings::rows`
  std::uint16_t phrase = 0;
  FieldCounts counts{};
  FieldCounts following{};  ///< how many of these follow the phrase before it in the query directly
};

/// All matches of one query, collected by an FTS5 auxiliary function, grouped by row.
struct Postings {
  static constexpr std::uint16_t kNone = 0xFFFF;

  /// The phrase of the plan at each position of the MATCH expression, or kNone.
  std::vector<std::uint16_t> phrase_of;
  /// By phrase of the plan: the phrase before it in the query, or kNone. Empty: not asked for.
  std::vector<std::uint16_t> before;
  std::vector<std::int64_t> rows;
  std::vector<Posting> postings;

  /// Of the current row, by phrase of the plan: field and position of each occurrence, ascending.
  std::vector<std::vector<std::uint32_t>> places;

  void clear() {
    phrase_of.clear();
    before.clear();
    rows.clear();
    postings.clear();
  }
};

/// Registers what the schema needs: the FTS5 tokenizers `code` and `terms`, and the functions
/// `kb_headings(text)`, `kb_size(text)` and `kb_body(text, extra)` on compressed text.
///
/// `code` splits documents with `tokenize`; `terms` expects terms separated by spaces. Query
/// strings consist of finished terms (see `query_words`) separated by spaces, so no character of
/// the user's text can act as an operator.
Status register_functions(sqlite3* database);

/// Registers `collect(fts)` for pages and `collect_code(code)` for code, which append to `postings`
/// and return NULL. The columns of code count as title and body. `postings` must outlive the
/// connection.
Status register_collector(sqlite3* database, Postings& postings);

}  // namespace ratchet::kbs
