#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kbs/query/indexes.h"
#include "kbs/query/ranking.h"

namespace ratchet::kbs {

/// Identifies a page among those of all indexes.
[[nodiscard]] constexpr std::int64_t key_of(std::uint32_t source, std::int64_t row) {
  return row * 2 + source;
}
[[nodiscard]] constexpr std::uint32_t source_of(std::int64_t key) {
  return static_cast<std::uint32_t>(key & 1);
}
[[nodiscard]] constexpr std::int64_t row_of(std::int64_t key) {
  return key / 2;
}

/// The id of the page that cites each raised page, by `key_of` the latter.
using CitedBy = std::unordered_map<std::int64_t, std::string>;

/// A wiki page about the whole query raises the sources that it cites to just below itself; those
/// that did not match are appended. `loans` and `sources`: by index. Does nothing where links are
/// not followed.
Result<CitedBy> raise_cited(const Indexes& indexes, std::span<const IndexReader::Loan> loans,
                            std::span<const RankingSource> sources, std::vector<Scored>& ranked);

}  // namespace ratchet::kbs
