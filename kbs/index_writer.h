#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kbs/document.h"
#include "kbs/index_database.h"
#include "kbs/page_reader.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// What a writer did with the documents of one corpus.
struct WriteCounts {
  int added = 0;
  int changed = 0;
  int unchanged = 0;
  int removed = 0;
};

/// Writes one index file. Works on a private copy beside the target and renames it into place in
/// `finish`; a writer that is killed or destroyed earlier leaves the old index as it was.
///
/// One writer at a time (a lock file beside the target); not shared between threads.
/// Errors: `conflict` while another writer works, `internal` for what SQLite or the file system
/// says.
class IndexWriter {
 public:
  /// Starts from a copy of the index at `target`, or from an empty one when there is none.
  /// Errors: `unavailable` when the file there is no index of this version.
  static Result<IndexWriter> open(const std::filesystem::path& target);
  IndexWriter(IndexWriter&&) noexcept;
  IndexWriter& operator=(IndexWriter&&) = delete;
  ~IndexWriter();

  /// Begins (or begins again) the corpus `name`: its documents that are not put again are removed
  /// by `end_corpus`.
  Status begin_corpus(std::string_view name, std::string_view root);
  /// A document of the current corpus. One that is there with the same content hash is left alone.
  /// Errors: `conflict` when the corpus put this id already.
  Status put(const Document& document);
  Status put_alias(const Alias& alias);
  Status put_problem(const Problem& problem);
  Result<WriteCounts> end_corpus();

  /// Errors: `not_found` when there is no such corpus.
  Result<int> remove_corpus(std::string_view name);

  /// Writes the statistics, closes and renames into place. The writer is done afterwards.
  Status finish();

 private:
  struct State;
  explicit IndexWriter(std::unique_ptr<State> state);

  Status remove_row(std::int64_t row);
  Status insert(const Document& document, std::string_view digest);
  Status insert_facets(std::int64_t row, const Document& document);

  std::unique_ptr<State> state_;
};

}  // namespace ratchet::kbs
