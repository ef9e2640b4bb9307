#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kbs/document.h"
#include "kbs/index_database.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// What ranking needs of each document; 16 bytes, written as one block when an index is finished.
struct DocumentStatistics {
  std::uint32_t present = 0;                        ///< 0: the row was removed
  std::array<std::uint16_t, kFtsFields> lengths{};  ///< terms per field, capped at 65,535

  Scope scope() const { return static_cast<Scope>(present - 1); }
};

/// The block of one index and its totals.
struct IndexStatistics {
  std::vector<DocumentStatistics> documents;  ///< by row id
  double count = 0;                           ///< of documents present
  std::array<double, kFtsFields> lengths{};   ///< summed over them

  [[nodiscard]] const DocumentStatistics& of(std::int64_t row) const {
    return documents[static_cast<std::size_t>(row)];
  }
};

/// Computes and stores the block; the last step of writing an index.
Status write_statistics(Database& database);

Result<IndexStatistics> read_statistics(Database& database);

}  // namespace ratchet::kbs
