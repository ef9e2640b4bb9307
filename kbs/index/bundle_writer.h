#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "kbs/index/bundle.h"
#include "kbs/index/code_row.h"
#include "kbs/index/index_database.h"
#include "kbs/text/term_set.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Computes the index terms of the fresh parts of a bundle. Thread-safe.
void find_terms(Bundle& bundle);

/// Writes bundles of code into an index: their files, and each distinct part once into the
/// full-text index. Part of `IndexWriter`; the database must outlive it.
class BundleWriter {
 public:
  /// Reads which parts the index contains already.
  static Result<BundleWriter> open(Database& database);

  /// Marks the parts that the index does not contain as fresh in this bundle; later bundles with
  /// the same parts will not index them again.
  void claim(Bundle& bundle);
  /// Writes a bundle after `claim` and `find_terms`.
  Status insert(const Bundle& bundle, std::string_view corpus);
  /// Removes a bundle and its files. Remaining files with the same parts become searchable again in
  /// `finish`.
  Status remove(std::int64_t bundle);
  /// Indexes parts whose only indexed copy was removed.
  Status finish();

 private:
  explicit BundleWriter(Database& database) : database_(&database) {}

  Status insert_file(std::int64_t bundle, int ordinal, const CodeFile& file);
  Status insert_part(CodeRow row, std::uint64_t hash, const CodeFile::Terms& terms);
  Status insert_facets(std::int64_t row, const Bundle& bundle);
  Status remove_file(std::int64_t file);

  Database* database_;
  TermSet terms_;
  std::unordered_map<std::uint64_t, std::int64_t> indexed_;  // hash of a part → row of `code`
  std::unordered_set<std::uint64_t> orphans_;  // hashes whose indexed copy was removed
  Statement insert_bundle_, insert_file_, insert_part_, insert_code_, insert_facet_, delete_code_,
      delete_part_, read_code_;
};

}  // namespace ratchet::kbs
