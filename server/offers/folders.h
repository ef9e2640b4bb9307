#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/mcp/features/features.h"

namespace ratchet {

/// Regular files below `folder`, as sorted relative paths; none when it cannot be read.
[[nodiscard]] std::vector<std::string> files_below(const std::filesystem::path& folder);

/// What the suffix says.
[[nodiscard]] std::string mime_type_of(const std::filesystem::path& path);

/// The file `path` as the contents of `uri`, at most 4 MiB. Errors: `not_found` for what is not
/// below `root`, links followed.
[[nodiscard]] Result<std::vector<mcp::ResourceContents>> contents_of(
    const std::string& uri, const std::filesystem::path& path, const std::filesystem::path& root);

[[nodiscard]] Error unknown_resource(const std::string& uri);

}  // namespace ratchet
