#include "server/offers/skills.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/offers/folders.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "skill://";
constexpr std::string_view kMain = "SKILL.md";
constexpr std::int64_t kSkillTtlMs = 3'600'000;

/// The front matter, which must be plain `key: text` lines, as tests/repo checks. Empty if there is
/// none.
std::map<std::string, std::string> front_matter_of(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != "---") return fields;
  while (std::getline(lines, line) && line != "---") {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) return {};
    fields[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return fields;
}

Result<mcp::Skill> read_skill(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::string place = std::string(kScheme) + name + "/";
  mcp::Skill skill{.uri = place + std::string(kMain)};
  for (const auto& file : files_below(folder)) {
    auto bytes = read_file(folder / file);
    if (!bytes) return bytes.error();
    if (file == kMain) skill.front_matter = front_matter_of(*bytes);
    skill.files.push_back({place + file, sha256_hex(*bytes), bytes->size()});
  }
  if (!skill.front_matter.contains("description") || skill.front_matter["name"] != name)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: must begin with flat front matter with a description and the "
                             "name {}",
                             (folder / kMain).string(), name),
                 ""};
  return skill;
}

}  // namespace

Result<std::vector<mcp::Skill>> all_skills(const fs::path& skills_dir) {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(skills_dir, failed))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::ranges::sort(folders);
  std::vector<mcp::Skill> skills;
  for (const auto& folder : folders) {
    auto skill = read_skill(folder);
    if (!skill) return skill.error();
    skills.push_back(*std::move(skill));
  }
  return skills;
}

mcp::ResourceProvider skill_files(const fs::path& skills_dir,
                                  const std::vector<mcp::Skill>& skills) {
  std::vector<mcp::Resource> resources;
  for (const auto& skill : skills)
    for (const auto& file : skill.files) {
      mcp::Resource resource{.uri = file.uri,
                             .name = file.uri.substr(kScheme.size()),
                             .mime_type = mime_type_of(file.uri),
                             .size_bytes = static_cast<std::int64_t>(file.size_bytes)};
      if (file.uri == skill.uri) {
        resource.name = skill.front_matter.at("name");
        resource.description = skill.front_matter.at("description");
      }
      resources.push_back(std::move(resource));
    }
  const auto list = [resources]() -> Result<std::vector<mcp::Resource>> { return resources; };
  const auto read = [skills_dir](const std::string& uri) {
    auto bytes = file_below(skills_dir, uri.substr(kScheme.size()));
    if (!bytes) return Result<std::vector<mcp::ResourceContents>>(unknown_resource(uri));
    return Result<std::vector<mcp::ResourceContents>>(contents_of(uri, *std::move(bytes)));
  };
  return {
      .scheme = "skill", .templates = {}, .list = list, .read = read, .read_ttl_ms = kSkillTtlMs};
}

}  // namespace ratchet
