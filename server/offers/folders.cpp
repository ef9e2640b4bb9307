#include "server/offers/folders.h"

#include <algorithm>

#include "server/core/beneath.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{4} << 20U;

}  // namespace

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (auto entry = fs::recursive_directory_iterator(folder, failed);
       !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed))
    if (entry->is_regular_file(failed))
      files.push_back(entry->path().lexically_relative(folder).string());
  std::ranges::sort(files);
  return files;
}

std::string mime_type_of(const fs::path& path) {
  const auto suffix = path.extension();
  if (suffix == ".md") return "text/markdown";
  if (suffix == ".json") return "application/json";
  if (suffix == ".html") return "text/html";
  return "text/plain";
}

Result<std::string> file_below(const fs::path& folder, const fs::path& name) {
  std::error_code failed;
  const auto real = fs::canonical(folder, failed);
  const auto held = Folder::open(real);
  if (!held) return held.error();
  return held->read(name, kLargestFile);
}

std::vector<mcp::ResourceContents> contents_of(const std::string& uri, std::string bytes) {
  const fs::path name(uri);
  const bool binary = name.extension() == ".ncu-rep";
  return {
      {.uri = uri, .mime_type = mime_type_of(name), .bytes = std::move(bytes), .binary = binary}};
}

Error unknown_resource(const std::string& uri) {
  return {ErrorCode::not_found, "there is no resource " + uri,
          "resources/list names the resources."};
}

}  // namespace ratchet
