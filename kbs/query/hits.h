#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbs/query/indexes.h"
#include "server/facts/knowledge.h"

namespace ratchet::kbs {

/// What the index says about one document, as a hit with a snippet around `words`; score and why
/// are the caller's. The path names the line shown: of the page's file, or of the record's line
/// when the description fits better.
Result<QueryHit> read_hit(const Indexes& indexes, Connection& connection,
                          const DocumentPlace& place, const std::vector<std::string>& words);

/// The same for one part of a file of code; `number` is its row in the index of code. The path
/// names the line shown.
Result<QueryHit> read_code_hit(Connection& connection, std::int64_t number,
                               const std::vector<std::string>& words);

}  // namespace ratchet::kbs
