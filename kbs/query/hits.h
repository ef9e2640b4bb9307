#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbs/query/indexes.h"
#include "server/facts/knowledge.h"

namespace ratchet::kbs {

/// A document as a hit, with a snippet around `words`; the caller sets score and `why`. The path
/// names the line of the snippet: in the page's file, or in the records file when the description
/// matches better.
Result<QueryHit> read_hit(const Indexes& indexes, Connection& connection,
                          const DocumentPlace& place, const std::vector<std::string>& words);

/// The same for one part of a file of code; `number` is its row in the index of code.
Result<QueryHit> read_code_hit(const Indexes& indexes, std::size_t reader, Connection& connection,
                               std::int64_t number, const std::vector<std::string>& words);

}  // namespace ratchet::kbs
