#pragma once

#include <string_view>

#include "kbs/documents/document.h"
#include "server/core/result.h"

namespace ratchet::kbs {

/// Reads a JSON file that contains one record, the format of newer wikis: `id`, `type`, and the
/// knowledge under `payload` or `facts`, which is converted to Markdown. Bookkeeping (`worth`, raw
/// evidence) is dropped. `path` is relative to the corpus root.
/// Errors: `invalid_argument` naming the problem.
[[nodiscard]] Result<Document> read_json_record(std::string_view json, std::string_view path);

}  // namespace ratchet::kbs
