#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kbs/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// How often one phrase stands in each field of one document.
struct Posting {
  std::uint32_t row = 0;  ///< index into `Postings::rows`
  std::uint16_t phrase = 0;
  std::array<std::uint16_t, kFtsFields> counts{};
};

/// All matches of one query, as the auxiliary function `collect(fts)` saw them, grouped by row.
struct Postings {
  std::vector<std::int64_t> rows;
  std::vector<Posting> postings;

  void clear() {
    rows.clear();
    postings.clear();
  }
};

/// Registers what the schema needs: the FTS5 tokenizer `code` and the functions `kb_headings(text)`
/// and `kb_body(text, extra)` over compressed text.
///
/// Documents are cut by `tokenize`. A query string holds finished terms (see `query_words`)
/// separated by blanks, so that no character of the user's can have a meaning of its own.
Status register_functions(sqlite3* database);

/// Registers `collect(fts)`, which appends to `postings` and returns NULL. `postings` must outlive
/// the connection.
Status register_collector(sqlite3* database, Postings& postings);

}  // namespace ratchet::kbs
