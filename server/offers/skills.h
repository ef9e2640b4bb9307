#pragma once

#include <filesystem>
#include <vector>

#include "server/core/result.h"
#include "server/mcp/features/features.h"

namespace ratchet {

/// The skills below `skills_dir`, one folder each, for the skills extension. They are part of the
/// release and do not change. None if the folder does not exist.
/// Errors: `invalid_argument` for a SKILL.md whose front matter is not flat `key: text` lines, or
/// whose name is not its folder's.
[[nodiscard]] Result<std::vector<mcp::Skill>> all_skills(const std::filesystem::path& skills_dir);

/// Their files, as skill://<name>/<path>.
[[nodiscard]] mcp::ResourceProvider skill_files(const std::filesystem::path& skills_dir,
                                                const std::vector<mcp::Skill>& skills);

}  // namespace ratchet
