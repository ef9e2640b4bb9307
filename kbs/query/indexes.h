#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kbs/index/index_reader.h"
#include "kbs/query/query_plan.h"
#include "server/core/origin.h"

namespace ratchet::kbs {

/// A snapshot of the indexes that are searched together. Immutable; shared by threads.
struct Indexes {
  std::vector<std::shared_ptr<IndexReader>> readers;  ///< the built-in one first
  std::unordered_set<std::string> builtin_ids;        ///< never qualified when ids collide
  bool has_builtin = false;
  bool follow_links = true;
  Aliases aliases;
  std::optional<std::string> note;  ///< set when the built-in wiki is missing

  /// The public id of a document of `reader`: qualified by its corpus when the built-in wiki uses
  /// the same id.
  [[nodiscard]] std::string shown_id(std::size_t reader, std::string_view id,
                                     std::string_view corpus) const;

  /// Whose texts a document of `reader` and `corpus` holds: only the shipped wiki is our own.
  [[nodiscard]] Origin origin(std::size_t reader, std::string_view corpus) const {
    if (has_builtin && reader == 0) return {};
    return {"corpus " + std::string(corpus)};
  }
};

/// The location of a document.
struct DocumentPlace {
  std::size_t reader = 0;
  std::int64_t row = 0;
};

/// Finds a document by its public id. Empty when there is none.
Result<std::optional<DocumentPlace>> find_document(const Indexes& indexes, std::string_view id);

/// Pages whose title, product, alias or symptom equals `name` after `squeezed`; at most 20.
Result<std::vector<std::int64_t>> rows_named(Connection& connection, std::string_view name);

/// The location of a file of code or of one part of it.
struct CodePlace {
  std::size_t reader = 0;
  std::int64_t file = 0;
  int part = 0;  ///< counted from 1; 0: the whole file
};

/// Finds code by its id. Empty when there is none.
Result<std::optional<CodePlace>> find_code(const Indexes& indexes, std::string_view id);

/// Up to `count` ids that are most similar to `id`.
Result<std::vector<std::string>> nearest_ids(const Indexes& indexes, std::string_view id,
                                             std::size_t count);

/// Ids that start with `prefix`, in order, at most `count`.
Result<std::vector<std::string>> ids_with_prefix(const Indexes& indexes, std::string_view prefix,
                                                 std::size_t count);

}  // namespace ratchet::kbs
