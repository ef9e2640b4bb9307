#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbs/index/index_reader.h"
#include "server/facts/knowledge.h"

namespace ratchet::kbs {

/// How well each page of one index fits the context of a query: its chip, its language and the
/// diagnosis. Ranking multiplies scores by it, and `why` names the matching parts.
class ContextBoost {
 public:
  /// `rows`: highest row id plus one. An empty context boosts nothing.
  static Result<ContextBoost> make(const QuerySituation& context, Connection& connection,
                                   std::size_t rows);

  /// A factor around 1.
  [[nodiscard]] double factor(std::int64_t row) const;
  /// "sm90, memory bound"; empty when nothing fits.
  [[nodiscard]] std::string reasons(std::int64_t row) const;

 private:
  std::vector<std::uint8_t> bits_;  // by row; empty without a context
  QuerySituation context_;
};

/// The context in a few words.
[[nodiscard]] std::string describe(const QuerySituation& context);

}  // namespace ratchet::kbs
