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

/// A file below `folder`, of at most 4 MiB, reached through no symbolic link.
[[nodiscard]] Result<std::string> file_below(const std::filesystem::path& folder,
                                             const std::filesystem::path& name);

/// The contents of a resource; its type follows from the suffix of `uri`.
[[nodiscard]] std::vector<mcp::ResourceContents> contents_of(const std::string& uri,
                                                             std::string bytes);

[[nodiscard]] Error unknown_resource(const std::string& uri);

}  // namespace ratchet
