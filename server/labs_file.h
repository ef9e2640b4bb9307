#pragma once

#include <filesystem>
#include <vector>

#include "kernels/labs/remote_lab.h"
#include "server/core/result.h"

namespace ratchet {

/// The labs of a file such as labs.yaml, which docs/scale.md describes; of an entry with a `count`
/// as many. Errors: `not_found`; `invalid_argument` with file, line, field and rule.
[[nodiscard]] Result<std::vector<RemoteLabOptions>> read_labs(const std::filesystem::path& file);

}  // namespace ratchet
