#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kbs/documents/document.h"
#include "kbs/index/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// What ranking needs to know about each document: 16 bytes, stored as one block per index.
struct DocumentStatistics {
  std::uint32_t present = 0;                        ///< 0: the row was removed
  std::array<std::uint16_t, kFtsFields> lengths{};  ///< terms per field, capped at 65,535

  Scope scope() const { return static_cast<Scope>(present - 1); }
};

/// The block of one index, with totals.
struct IndexStatistics {
  std::vector<DocumentStatistics> documents;  ///< by row id
  double count = 0;                           ///< number of documents present
  std::array<double, kFtsFields> lengths{};   ///< sums over these documents

  [[nodiscard]] const DocumentStatistics& of(std::int64_t row) const {
    return documents[static_cast<std::size_t>(row)];
  }
};

/// What ranking and filters need to know about each file of code: 8 bytes.
struct CodeStatistics {
  std::uint32_t bundle = 0;  ///< 0: the row was removed
  std::uint8_t scope = 0;
  std::uint8_t language = 0;  ///< index into `CodeIndexStatistics::languages`
  std::uint16_t unused = 0;
};

struct CodeIndexStatistics {
  std::vector<CodeStatistics> files;   ///< by row id
  std::vector<std::string> languages;  ///< the most frequent first; at most 255
  double parts = 0;                    ///< number of rows in the full-text index
  std::int64_t bundles = 0;            ///< highest row id plus one
};

/// Terms that occur in at least this many documents or parts are counted in the table `frequent`;
/// rarer ones are counted when a query finds them.
inline constexpr int kFrequent = 64;
enum class Area : std::uint8_t { pages, code };

/// Computes and stores the blocks and the counts of frequent terms, for pages and for code where
/// they changed. The last step of writing an index.
Status write_statistics(Database& database, bool pages, bool code);

Result<IndexStatistics> read_statistics(Database& database);
Result<CodeIndexStatistics> read_code_statistics(Database& database);

}  // namespace ratchet::kbs
