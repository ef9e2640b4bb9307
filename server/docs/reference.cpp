#include "server/docs/reference.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <sstream>

#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "<!-- tools:begin";  // names may follow
constexpr std::string_view kClose = "-->";
constexpr std::string_view kEnd = "<!-- tools:end -->";

std::string type_of(const Json& property) {
  const auto type = property.find("type");
  if (type == property.end()) return "any";
  if (type->is_array()) return fmt::format("{} or list", (*type)[0].get<std::string>());
  if (*type == "array") {
    const auto items = property.find("items");
    return items == property.end() ? "list" : "list of " + type_of(*items);
  }
  return type->get<std::string>();
}

bool is_required(const Json& schema, const std::string& name) {
  for (const auto& entry : schema.value("required", Json::array()))
    if (entry == name) return true;
  return false;
}

std::string argument_list(const Tool& tool) {
  std::string needed;
  std::string others;
  for (const auto& [name, property] : tool.input_schema["properties"].items()) {
    const bool required = is_required(tool.input_schema, name);
    std::string& list = required ? needed : others;
    list += fmt::format("{}`{}{}`", list.empty() ? "" : " ", name, required ? "" : "?");
  }
  return needed + (needed.empty() || others.empty() ? "" : " ") + others;
}

/// The rows of the tools that `names` has, or whose toolset it has; of all without names.
/// Errors: a name that no tool and no toolset has.
Result<std::string> tool_table(const std::vector<Tool>& tools, const std::string& path,
                               std::string_view names) {
  std::istringstream words{std::string(names)};
  const std::set<std::string> wanted{std::istream_iterator<std::string>(words), {}};
  std::set<std::string> unknown = wanted;
  std::string table = "| toolset | tool | does | arguments |\n|---|---|---|---|\n";
  for (const auto& tool : tools) {
    const std::string toolset(name_of(tool.info.toolset));
    unknown.erase(toolset);
    unknown.erase(tool.info.name);
    if (!wanted.empty() && !wanted.contains(toolset) && !wanted.contains(tool.info.name)) continue;
    table += fmt::format("| {} | `{}` | {} | {} |\n", toolset, tool.info.name, tool.info.summary,
                         argument_list(tool));
  }
  if (!unknown.empty())
    return invalid_argument(
        fmt::format("{}: the block of tools names {}, which is neither a tool nor a toolset", path,
                    *unknown.begin()));
  return table;
}

Json schema_file(const Tool& tool) {
  return {{"name", tool.info.name},
          {"description", tool.info.summary},
          {"toolset", name_of(tool.info.toolset)},
          {"inputSchema", tool.input_schema},
          {"outputSchema", tool.output_schema}};
}

Result<std::string> with_block(const std::string& text, const std::string& path,
                               const std::vector<Tool>& tools) {
  const auto begin = text.find(kBegin);
  if (begin == std::string::npos) return text;
  const auto names = begin + kBegin.size();
  const auto close = text.find(kClose, names);
  const auto end = text.find(kEnd, begin);
  if (end == std::string::npos || close > end)
    return invalid_argument(fmt::format("{}: {} is missing", path, kEnd));
  auto table = tool_table(tools, path, std::string_view(text).substr(names, close - names));
  if (!table) return table.error();
  return text.substr(0, close + kClose.size()) + "\n" + *table + text.substr(end);
}

/// Files that may contain a block: docs/tools.md and every Markdown file of the skills.
std::vector<std::string> block_files(const fs::path& repository) {
  std::vector<std::string> files;
  std::error_code failed;
  if (fs::exists(repository / "docs/tools.md", failed)) files.emplace_back("docs/tools.md");
  if (fs::exists(repository / "skill", failed))
    for (const auto& entry : fs::recursive_directory_iterator(repository / "skill", failed))
      if (entry.path().extension() == ".md")
        files.push_back(fs::relative(entry.path(), repository).string());
  return files;
}

std::vector<std::string> orphans(const std::map<std::string, std::string>& wanted,
                                 const fs::path& repository) {
  std::vector<std::string> gone;
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(repository / "schemas", failed)) {
    const std::string path = fs::relative(entry.path(), repository).string();
    if (entry.path().extension() == ".json" && !wanted.contains(path)) gone.push_back(path);
  }
  return gone;
}

}  // namespace

Result<std::map<std::string, std::string>> generated_files(const std::vector<Tool>& tools,
                                                           const LabSchemas& labs,
                                                           const fs::path& repository) {
  std::map<std::string, std::string> files;
  for (const auto& tool : tools)
    files["schemas/" + tool.info.name + ".json"] = schema_file(tool).dump(2) + "\n";
  for (const auto& [name, schema] : labs)
    files["schemas/labs/" + name + ".json"] = schema.dump(2) + "\n";
  for (const auto& path : block_files(repository)) {
    auto text = read_file(repository / path);
    if (!text) return text.error();
    auto filled = with_block(*text, path, tools);
    if (!filled) return filled.error();
    files[path] = *std::move(filled);
  }
  return files;
}

Result<std::vector<std::string>> stale_files(const std::vector<Tool>& tools, const LabSchemas& labs,
                                             const fs::path& repository) {
  auto files = generated_files(tools, labs, repository);
  if (!files) return files.error();
  std::vector<std::string> stale = orphans(*files, repository);
  for (const auto& [path, text] : *files) {
    auto current = read_file(repository / path);
    if (!current || *current != text) stale.push_back(path);
  }
  return stale;
}

Result<std::vector<std::string>> write_generated_files(const std::vector<Tool>& tools,
                                                       const LabSchemas& labs,
                                                       const fs::path& repository) {
  auto files = generated_files(tools, labs, repository);
  if (!files) return files.error();
  auto stale = stale_files(tools, labs, repository);
  if (!stale) return stale.error();
  for (const auto& path : *stale) {
    const auto wanted = files->find(path);
    if (wanted == files->end()) {
      std::error_code failed;
      fs::remove(repository / path, failed);
      continue;
    }
    auto written = write_file(repository / path, wanted->second);
    if (!written) return written.error();
  }
  return stale;
}

}  // namespace ratchet
