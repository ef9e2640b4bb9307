#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbs/index/index_reader.h"
#include "server/facts/knowledge.h"

namespace ratchet::kbs {

/// How well the pages of one index fit the situation a query comes from: its chip, its language and
/// what was diagnosed. Ranking multiplies by it, and `why` says what fitted.
class Fit {
 public:
  /// `rows`: one more than the highest row id. An empty situation fits everything alike.
  static Result<Fit> make(const QuerySituation& situation, Connection& connection,
                          std::size_t rows);

  /// Around 1.
  [[nodiscard]] double factor(std::int64_t row) const;
  /// "sm90, memory bound"; empty when nothing fits.
  [[nodiscard]] std::string reasons(std::int64_t row) const;

 private:
  std::vector<std::uint8_t> bits_;  // by row; empty without a situation
  QuerySituation situation_;
};

/// The situation in a few words.
[[nodiscard]] std::string describe(const QuerySituation& situation);

}  // namespace ratchet::kbs
