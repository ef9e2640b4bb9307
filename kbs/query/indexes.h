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

namespace ratchet::kbs {

/// The indexes that answer together, as they were at one moment. Immutable; shared by threads.
struct Indexes {
  std::vector<std::shared_ptr<IndexReader>> readers;  ///< the built-in one first
  std::unordered_set<std::string> builtin_ids;        ///< keep their plain form when ids collide
  bool has_builtin = false;
  bool follow_links = true;
  Aliases aliases;
  std::optional<std::string> note;  ///< something that belongs here is missing

  /// The id under which a document of `reader` is known outside: qualified by its corpus when the
  /// built-in wiki holds the same id.
  [[nodiscard]] std::string shown_id(std::size_t reader, std::string_view id,
                                     std::string_view corpus) const;
};

/// Where a document stands.
struct DocumentPlace {
  std::size_t reader = 0;
  std::int64_t row = 0;
};

/// Finds a shown id. Empty when there is none.
Result<std::optional<DocumentPlace>> find_document(const Indexes& indexes, std::string_view id);

/// Pages whose title, product, alias or symptom is this name, as `squeezed` writes it; at most 20.
Result<std::vector<std::int64_t>> rows_named(Connection& connection, std::string_view name);

/// A file of code, or one part of it.
struct CodePlace {
  std::size_t reader = 0;
  std::int64_t file = 0;
  int part = 0;  ///< counted from 1; 0: the whole file
};

/// Finds an id of code. Empty when there is none.
Result<std::optional<CodePlace>> find_code(const Indexes& indexes, std::string_view id);

/// Up to `count` ids that look most like `id`.
Result<std::vector<std::string>> nearest_ids(const Indexes& indexes, std::string_view id,
                                             std::size_t count);

/// Ids that start with `prefix`, in order, at most `count`.
Result<std::vector<std::string>> ids_with_prefix(const Indexes& indexes, std::string_view prefix,
                                                 std::size_t count);

}  // namespace ratchet::kbs
