#include "server/offers/resources.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr int kListedRuns = 20;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr std::int64_t kHour = 3'600'000;

Error unknown(const std::string& uri) {
  return {ErrorCode::not_found, "there is no resource " + uri,
          "resources/list names what there is."};
}

/// The part of `uri` after "<scheme>://".
std::string rest_of(const std::string& uri) {
  const auto at = uri.find("://");
  return at == std::string::npos ? "" : uri.substr(at + 3);
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
  if (!inside) return unknown(uri);
  auto bytes = read_file(*inside, kMostBytes);
  if (!bytes) return bytes.error();
  const bool binary = path.extension() == ".ncu-rep";
  return std::vector<mcp::ResourceContents>{
      {.uri = uri, .mime_type = mime_type_of(path), .bytes = *std::move(bytes), .binary = binary}};
}

/// Regular files below `folder`, as sorted relative paths.
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

mcp::ResourceProvider run_artifacts(Runs& runs) {
  const auto list = [&runs]() -> Result<std::vector<mcp::Resource>> {
    auto newest = runs.list(kListedRuns, {});
    if (!newest) return newest.error();
    std::vector<mcp::Resource> resources;
    for (const auto& run : newest->runs)
      for (const auto& file : files_below(run.output_dir))
        resources.push_back({.uri = "run://" + run.run.text + "/" + file,
                             .name = run.run.text + "/" + file,
                             .mime_type = mime_type_of(file)});
    return resources;
  };
  const auto read = [&runs](const std::string& uri) -> Result<std::vector<mcp::ResourceContents>> {
    const std::string rest = rest_of(uri);
    const auto slash = rest.find('/');
    if (slash == std::string::npos) return unknown(uri);
    auto status = runs.status(RunId{rest.substr(0, slash)});
    if (!status) return status.error();
    const fs::path folder = status->output_dir;
    return contents_of(uri, folder / rest.substr(slash + 1), folder);
  };
  return {.scheme = "run",
          .templates = {{.uri_template = "run://{run}/{artifact}",
                         .name = "run artifact",
                         .description = "A rendered artifact of a run, e.g. final_report.md."}},
          .list = list,
          .read = read};
}

mcp::ResourceProvider knowledge_pages(Knowledge& knowledge) {
  const auto read =
      [&knowledge](const std::string& uri) -> Result<std::vector<mcp::ResourceContents>> {
    constexpr std::string_view kFolder = "page/";
    const std::string rest = rest_of(uri);
    if (!rest.starts_with(kFolder)) return unknown(uri);
    PageRequest request{.id = rest.substr(kFolder.size())};
    std::string text;
    do {
      auto page = knowledge.page(request);
      if (!page) return page.error();
      text += page->text;
      request.cursor = page->next_cursor;
    } while (request.cursor && text.size() < kMostBytes);
    return std::vector<mcp::ResourceContents>{
        {.uri = uri, .mime_type = "text/markdown", .bytes = std::move(text)}};
  };
  return {.scheme = "kbs",
          .templates = {{.uri_template = "kbs://page/{id}",
                         .name = "knowledge page",
                         .description = "A page of the knowledge base, by id."}},
          .list = {},
          .read = read,
          .read_ttl_ms = kHour};
}

mcp::ResourceProvider documents(const fs::path& docs_dir) {
  const auto list = [docs_dir]() -> Result<std::vector<mcp::Resource>> {
    std::vector<mcp::Resource> resources;
    for (const auto& file : files_below(docs_dir))
      resources.push_back({.uri = "doc://" + file, .name = file, .mime_type = mime_type_of(file)});
    return resources;
  };
  const auto read = [docs_dir](const std::string& uri) {
    return contents_of(uri, docs_dir / rest_of(uri), docs_dir);
  };
  return {.scheme = "doc", .templates = {}, .list = list, .read = read, .read_ttl_ms = kHour};
}

}  // namespace

std::vector<mcp::ResourceProvider> all_resources(Runs& runs, Knowledge& knowledge,
                                                 const fs::path& docs_dir) {
  return {run_artifacts(runs), knowledge_pages(knowledge), documents(docs_dir)};
}

}  // namespace ratchet
