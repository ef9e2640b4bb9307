#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// How often one phrase stands in each field of one document.
struct Posting {
  std::uint32_t row = 0;  ///< index into `Postings::rows`
  std::uint16_t phrase = 0;
  FieldCounts counts{};
};

/// All matches of one query, as an auxiliary function saw them, grouped by row.
struct Postings {
  static constexpr std::uint16_t kNone = 0xFFFF;

  std::vector<std::uint16_t> phrase_of;  ///< by place in the MATCH expression: its phrase, or kNone
  std::vector<std::int64_t> rows;
  std::vector<Posting> postings;

  void clear() {
    phrase_of.clear();
    rows.clear();
    postings.clear();
  }
};

/// Registers what the schema needs: the FTS5 tokenizers `code` and `terms` and the functions
/// `kb_headings(text)`, `kb_size(text)` and `kb_body(text, extra)` over compressed text.
///
/// `code` cuts documents by `tokenize`; `terms` takes them as terms separated by blanks. A query
/// string holds finished terms (see `query_words`) separated by blanks, so that no character of the
/// user's can have a meaning of its own.
Status register_functions(sqlite3* database);

/// Registers `collect(fts)` for pages and `collect_code(code)`, which append to `postings` and
/// return NULL. The columns of code count as title and body. `postings` must outlive the
/// connection.
Status register_collector(sqlite3* database, Postings& postings);

}  // namespace ratchet::kbs
