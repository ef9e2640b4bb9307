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

/// What a writer did with the pages and bundles of one corpus.
struct WriteCounts {
  int added = 0;
  int changed = 0;
  int unchanged = 0;
  int removed = 0;
};

/// What a page, a record or a bundle, or a page with its bundle, is made from.
struct Job {
  std::string key;    ///< of it in its corpus
  std::string stamp;  ///< says whether anything of it changed; empty: never the same as before
};

/// Writes one index file. Works on a private copy beside the target and renames it into place in
/// `finish`; a writer that is killed or destroyed earlier leaves the old index as it was. The copy
/// is made with the first change: where there is none, nothing is written at all.
///
/// One writer at a time (a lock file beside the target); not shared between threads.
/// Errors: `conflict` while another writer works, `unavailable` for what SQLite says, `internal`
/// for the file system.
class IndexWriter {
 public:
  /// Errors: `unavailable` when the file there is no index of this version.
  static Result<IndexWriter> open(const std::filesystem::path& target);
  IndexWriter(IndexWriter&&) noexcept;
  IndexWriter& operator=(IndexWriter&&) = delete;
  ~IndexWriter();

  /// Begins (or begins again) the corpus `name`: what is not put or kept again is removed by
  /// `end_corpus`.
  Status begin_corpus(std::string_view name, std::string_view root);
  /// The ids of what came of a job the last time; both empty when it is new.
  struct MadeOf {
    std::string document, bundle;
  };
  [[nodiscard]] MadeOf made_of(const std::string& key) const;
  /// True when the job is known with this very stamp; then all that came of it stays.
  bool keep(const Job& job);
  /// A page or record of the current corpus. One that is there with the same content hash is left
  /// alone.
  /// Errors: `conflict` when the corpus put this id already.
  Status put(const Document& document);
  /// Begins with a bundle. False when it is there with the same content hash and is left alone;
  /// otherwise `find_terms`, which another thread may do, and `insert` follow, in any order among
  /// bundles.
  /// Errors: `conflict` as above.
  Result<bool> claim(Bundle& bundle);
  Status insert(const Bundle& bundle);
  /// Remembers what came of a job; ids may be empty.
  Status remember(const Job& job, std::string_view document, std::string_view bundle);
  void put_alias(Alias alias);
  void put_problem(Problem problem);
  Result<WriteCounts> end_corpus();

  /// Errors: `not_found` when there is no such corpus.
  Result<int> remove_corpus(std::string_view name);

  /// Writes the statistics, closes and renames into place. The writer is done afterwards.
  Status finish();

 private:
  struct State;
  explicit IndexWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ratchet::kbs
