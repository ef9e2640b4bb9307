#pragma once

#include <string_view>

#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Reads one JSON file that is one record, as newer wikis keep them: `id`, `type`, and the
/// knowledge under `payload` or `facts`, which becomes Markdown. Bookkeeping (`worth`, raw
/// evidence) is left out. `path` is relative to the corpus root. Errors: `invalid_argument` saying
/// what is wrong.
[[nodiscard]] Result<Document> read_json_record(std::string_view json, std::string_view path);

}  // namespace ratchet::kbs
