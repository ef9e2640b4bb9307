#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/mcp/features/features.h"

namespace ratchet {

/// Regular files below `folder`, as sorted relative paths; none when it cannot be read.
[[nodiscard]] std::vector<std::string> files_below(const std::filesystem::path& folder);

/// By the suffix.
[[nodiscard]] std::string mime_type_of(const std::filesystem::path& path);

/// The file `path`, of at most 4 MiB, as the contents of `uri`. Errors: `not_found` for a path
/// that, with links resolved, is not below `root`.
[[nodiscard]] Result<std::vector<mcp::ResourceContents>> contents_of(
    const std::string& uri, const std::filesystem::path& path, const std::filesystem::path& root);

[[nodiscard]] Error unknown_resource(const std::string& uri);

}  // namespace ratchet
