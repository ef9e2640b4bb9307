#include "kernels/labs/source_files.h"

#include <fmt/format.h>

#include <functional>
#include <system_error>
#include <utility>

#include "kernels/build/build_needs.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

/// Calls `visit` with every encoded Source in a value.
template <class Value>
void for_each_source(Value& value, const std::function<void(Value&)>& visit) {
  if (value.is_object() && value.contains("file_name") && value.contains("text") &&
      value.contains("folder") && value["folder"].is_string())
    visit(value);
  if (value.is_structured())
    for (auto& element : value) for_each_source<Value>(element, visit);
}

bool is_python(const Source& source) {
  return source.file_name.ends_with(".py");
}

/// The modules beside a Python source, in packages too.
std::map<fs::path, std::string> modules_of(const fs::path& folder) {
  std::map<fs::path, std::string> found;
  std::size_t bytes = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code none;
    if (entry->is_directory(none) && entry->path().filename().string().starts_with("."))
      entry.disable_recursion_pending();
    if (entry->path().extension() != ".py" || !entry->is_regular_file(none)) continue;
    auto text = read_file(entry->path(), kMostBytes);
    if (!text) continue;
    bytes += text->size();
    if (found.size() == kMostFiles || bytes > kMostBytes) break;
    found.emplace(entry->path(), *std::move(text));
  }
  return found;
}

std::map<fs::path, std::string> needed_by(const Source& source, const fs::path& folder) {
  if (is_python(source)) return modules_of(folder);
  std::map<fs::path, std::string> found;
  for (auto& header : local_headers(source)) found.emplace(header.path, std::move(header.text));
  return found;
}

/// The deepest folder that holds this one and the file.
fs::path common(fs::path folder, const fs::path& file) {
  while (folder.has_relative_path() && *file.lexically_relative(folder).begin() == "..")
    folder = folder.parent_path();
  return folder;
}

bool leads_out(const fs::path& path) {
  if (path.is_absolute()) return true;
  const auto normal = path.lexically_normal();
  return !normal.empty() && *normal.begin() == "..";
}

}  // namespace

std::map<std::string, lab_wire::Files> files_of(const Json& body) {
  std::map<std::string, lab_wire::Files> all;
  for_each_source<const Json>(body, [&](const Json& encoded) {
    const auto source = decode_stored<Source>(encoded);
    if (!source || source->folder.empty()) return;
    std::error_code none;
    const auto folder = fs::weakly_canonical(source->folder, none);
    const auto needed = needed_by(*source, folder);
    if (needed.empty()) return;
    auto base = folder;
    for (const auto& [path, text] : needed) base = common(base, path);
    auto& files = all[source->folder];
    // Sources of one folder may need different parts of what is around it.
    if (files.folder.size() <= folder.lexically_relative(base).string().size())
      files.folder = folder.lexically_relative(base).string();
    for (const auto& [path, text] : needed)
      files.texts[path.lexically_relative(folder).string()] = text;
  });
  return all;
}

Status unpack(const std::map<std::string, lab_wire::Files>& files, const fs::path& place,
              Json& body) {
  std::map<std::string, std::pair<fs::path, fs::path>> made;  // folder and root, by their names
  for (const auto& [name, one] : files) {
    if (leads_out(one.folder))
      return invalid_argument(fmt::format("files: the folder {} leads out", one.folder));
    // By content, so that the same files lie in the same place for every request.
    const auto root = place / sha256_hex(encode(one).dump()).substr(0, 32);
    const auto folder = (root / one.folder).lexically_normal();
    made[name] = {folder, root};
    std::error_code failed;
    // A repository's headers may be included from all of it; this folder stands for one.
    fs::create_directories(root / ".git", failed);
    for (const auto& [path, text] : one.texts) {
      const auto target = (folder / path).lexically_normal();
      if (fs::path(path).is_absolute() || leads_out(target.lexically_relative(root)))
        return invalid_argument(fmt::format("files: {} leads out of its folder", path));
      fs::create_directories(target.parent_path(), failed);
      if (auto written = write_file(target, text); !written) return written;
    }
  }
  for_each_source<Json>(body, [&](Json& source) {
    const auto found = made.find(source["folder"].get<std::string>());
    source["folder"] = found == made.end() ? "" : found->second.first.string();
    source["root"] = found == made.end() ? "" : found->second.second.string();
  });
  return {};
}

}  // namespace ratchet
