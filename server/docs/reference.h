#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/core/tool.h"

namespace ratchet {

using LabSchemas = std::map<std::string, Json>;  ///< by name

/// All files generated from the tools' declarations, by path relative to the repository:
/// `schemas/<tool>.json`, the marked blocks of docs/tools.md and of the skills, and
/// `schemas/labs/<name>.json` for each schema of the lines to labs. Pure but for reading the files
/// with marked blocks.
///
/// A block lies between `<!-- tools:begin -->` and `<!-- tools:end -->` and lists every tool;
/// `<!-- tools:begin kbs benchmark -->` those of a toolset and one more.
/// Errors: a file with a block cannot be read, its end marker is missing, or it names an unknown
/// tool.
[[nodiscard]] Result<std::map<std::string, std::string>> generated_files(
    const std::vector<Tool>& tools, const LabSchemas& labs,
    const std::filesystem::path& repository);

/// Writes the files that differ and removes schemas of what no longer exists. Returns their
/// paths.
[[nodiscard]] Result<std::vector<std::string>> write_generated_files(
    const std::vector<Tool>& tools, const LabSchemas& labs,
    const std::filesystem::path& repository);

/// The paths of files that differ from the declarations.
[[nodiscard]] Result<std::vector<std::string>> stale_files(const std::vector<Tool>& tools,
                                                           const LabSchemas& labs,
                                                           const std::filesystem::path& repository);

}  // namespace ratchet
