#pragma once

#include <filesystem>
#include <vector>

#include "server/core/result.h"
#include "server/mcp/features/features.h"

namespace ratchet {

/// The skills below `skills_dir`, one folder each, as the skills extension wants them. Read once:
/// they are part of the release. A folder that is not there holds none.
/// Errors: `invalid_argument` for a SKILL.md whose front matter is not flat `key: text` lines with
/// its folder's name.
[[nodiscard]] Result<std::vector<mcp::Skill>> all_skills(const std::filesystem::path& skills_dir);

/// Their files, as skill://<name>/<path>.
[[nodiscard]] mcp::ResourceProvider skill_files(const std::filesystem::path& skills_dir,
                                                const std::vector<mcp::Skill>& skills);

}  // namespace ratchet
