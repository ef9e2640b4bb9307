#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "kbs/documents/document.h"
#include "kbs/documents/page_reader.h"
#include "kbs/index/bundle.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// What a writer did to the pages and bundles of one corpus.
struct WriteCounts {
  int added = 0;
  int changed = 0;
  int unchanged = 0;
  int removed = 0;
};

/// A unit of input: a page, a record, a bundle, or a page with its bundle.
struct ImportItem {
  std::string key;    ///< unique in its corpus
  std::string stamp;  ///< changes when the input does; empty: always treat it as changed
};

/// Writes one index file. Works on a private copy beside the target and renames it into place in
/// `finish`; a writer that is killed or destroyed before that leaves the old index unchanged. The
/// copy is made on the first change, so nothing is written when nothing changed.
///
/// Not thread-safe. One writer at a time, enforced by a lock file beside the target.
/// Errors: `conflict` while another writer works, `unavailable` from SQLite, `internal` from the
/// file system.
class IndexWriter {
 public:
  /// Errors: `unavailable` when an existing file is not an index of this version.
  static Result<IndexWriter> open(const std::filesystem::path& target);
  IndexWriter(IndexWriter&&) noexcept;
  IndexWriter& operator=(IndexWriter&&) = delete;
  ~IndexWriter();

  /// Begins a new or existing corpus. `end_corpus` removes everything that is not put or kept in
  /// between.
  Status begin_corpus(std::string_view name, std::string_view root);
  /// The ids of the document and the bundle that an item produced last time; empty when it is new.
  struct MadeOf {
    std::string document, bundle;
  };
  [[nodiscard]] MadeOf made_of(const std::string& key) const;
  /// True when the item is known with the same stamp; then everything that it produced is kept.
  bool keep(const ImportItem& item);
  /// Adds a page or record to the current corpus, unless the index has it with the same content
  /// hash. Errors: `conflict` when the id was already put since `begin_corpus`.
  Status put(const Document& document);
  /// First step of adding a bundle. False when the index has it with the same content hash;
  /// otherwise call `find_terms` (on any thread) and `insert` next, in any order among bundles.
  /// Errors: `conflict` as for `put`.
  Result<bool> claim(Bundle& bundle);
  Status insert(const Bundle& bundle);
  /// Records what an item produced; ids may be empty.
  Status remember(const ImportItem& item, std::string_view document, std::string_view bundle);
  void put_alias(Alias alias);
  void put_problem(Problem problem);
  Result<WriteCounts> end_corpus();

  /// Errors: `not_found` when there is no such corpus.
  Result<int> remove_corpus(std::string_view name);

  /// Writes the statistics, closes the file and renames it into place. Must be the last call.
  Status finish();

 private:
  struct State;
  explicit IndexWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ratchet::kbs
