#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kbs/documents/document.h"
#include "kbs/index/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Writes pages and records into an index. Part of `IndexWriter`; the database must outlive it.
class DocumentWriter {
 public:
  static Result<DocumentWriter> open(Database& database);

  /// `digest`: the result of `digest_of`.
  Status insert(const Document& document, std::string_view corpus, std::string_view digest);
  Status remove(std::int64_t row);

  /// A hash of everything that is indexed, so that a changed label causes re-indexing as a changed
  /// text does.
  [[nodiscard]] static std::string digest_of(const Document& document);

 private:
  DocumentWriter() = default;

  Status insert_text(std::int64_t row, std::string_view id, const Document& document);
  Status insert_facets(std::int64_t row, const Document& document);
  Status insert_notes(std::int64_t row, const Document& document);

  Database* database_ = nullptr;
  Statement insert_doc_, insert_fts_, insert_facet_, insert_source_, insert_spec_, find_id_;
};

}  // namespace ratchet::kbs
