#include "server/offers/folders.h"

#include <algorithm>

#include "server/core/files.h"

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

Result<std::vector<mcp::ResourceContents>> contents_of(const std::string& uri, const fs::path& path,
                                                       const fs::path& root) {
  auto inside = inside_roots(path, {root});
  if (!inside) return unknown_resource(uri);
  auto bytes = read_file(*inside, kLargestFile);
  if (!bytes) return bytes.error();
  const bool binary = path.extension() == ".ncu-rep";
  return std::vector<mcp::ResourceContents>{
      {.uri = uri, .mime_type = mime_type_of(path), .bytes = *std::move(bytes), .binary = binary}};
}

Error unknown_resource(const std::string& uri) {
  return {ErrorCode::not_found, "there is no resource " + uri,
          "resources/list names the resources."};
}

}  // namespace ratchet
