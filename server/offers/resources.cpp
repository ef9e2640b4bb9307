#include "server/offers/resources.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "server/core/files.h"
#include "server/offers/completions.h"
#include "server/offers/folders.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr int kListedRuns = 20;
constexpr std::size_t kLargestAnswer = std::size_t{4} << 20U;
constexpr std::int64_t kPagesTtlMs = 3'600'000;

/// The part of `uri` after "<scheme>://".
std::string rest_of(const std::string& uri) {
  const auto at = uri.find("://");
  return at == std::string::npos ? "" : uri.substr(at + 3);
}

mcp::ResourceProvider run_artifacts(Runs& runs) {
  const auto list = [&runs]() -> Result<std::vector<mcp::Resource>> {
    auto newest = runs.list(kListedRuns, {});
    if (!newest) return newest.error();
    std::vector<mcp::Resource> resources;
    for (const auto& run : newest->runs)
      for (const auto& file : runs.artifacts(run.run).value_or(std::vector<std::string>{}))
        resources.push_back({.uri = "run://" + run.run.text + "/" + file,
                             .name = run.run.text + "/" + file,
                             .mime_type = mime_type_of(file)});
    return resources;
  };
  const auto read = [&runs](const std::string& uri) -> Result<std::vector<mcp::ResourceContents>> {
    const std::string rest = rest_of(uri);
    const auto slash = rest.find('/');
    if (slash == std::string::npos) return unknown_resource(uri);
    const std::string path = rest.substr(slash + 1);
    auto bytes = runs.artifact(RunId{rest.substr(0, slash)}, path);
    if (!bytes)
      return bytes.error().code == ErrorCode::not_found ? unknown_resource(uri)
                                                        : bytes.error().at(uri);
    if (bytes->size() > kLargestAnswer)
      return Error{
          ErrorCode::too_large,
          fmt::format("{} has {} bytes; at most {} are sent", uri, bytes->size(), kLargestAnswer),
          "Read it in the run's output directory, which list_runs names."};
    return contents_of(uri, *std::move(bytes));
  };
  return {.scheme = "run",
          .templates = {{.uri_template = "run://{run}/{artifact}",
                         .name = "run artifact",
                         .description = "A rendered artifact of a run, e.g. final_report.md.",
                         .complete = {{"run", run_ids(runs)}, {"artifact", artifacts(runs)}}},
                        {.uri_template = "run://{run}/{version}/{artifact}",
                         .name = "version artifact",
                         .description = "A rendered artifact of one version, e.g. correctness.md.",
                         .complete = {{"run", run_ids(runs)},
                                      {"version", versions(runs)},
                                      {"artifact", artifacts(runs)}}}},
          .list = list,
          .read = read};
}

mcp::ResourceProvider knowledge_pages(Knowledge& knowledge) {
  const auto read =
      [&knowledge](const std::string& uri) -> Result<std::vector<mcp::ResourceContents>> {
    constexpr std::string_view kFolder = "page/";
    const std::string rest = rest_of(uri);
    if (!rest.starts_with(kFolder)) return unknown_resource(uri);
    PageRequest request{.id = rest.substr(kFolder.size())};
    std::string text;
    do {
      auto page = knowledge.page(request);
      if (!page) return page.error();
      const bool ours = page->origin.name.empty();
      text += ours ? page->text : fenced(page->text);
      request.cursor = page->next_cursor;
    } while (request.cursor && text.size() < kLargestAnswer);
    return std::vector<mcp::ResourceContents>{
        {.uri = uri, .mime_type = "text/markdown", .bytes = std::move(text)}};
  };
  return {.scheme = "kbs",
          .templates = {{.uri_template = "kbs://page/{id}",
                         .name = "knowledge page",
                         .description = "A page of the knowledge base, by id.",
                         .mime_type = "text/markdown",
                         .complete = {{"id", page_ids(knowledge)}}}},
          .list = {},
          .read = read,
          .read_ttl_ms = kPagesTtlMs};
}

/// The title of a page: "How to work" of "# How to work".
std::string title_of(const fs::path& page) {
  auto text = read_file(page, kLargestAnswer);
  if (!text || !text->starts_with("# ")) return page.stem().string();
  return text->substr(2, text->find('\n') - 2);
}

mcp::ResourceProvider documents(const fs::path& docs_dir) {
  const auto list = [docs_dir]() -> Result<std::vector<mcp::Resource>> {
    std::vector<mcp::Resource> resources;
    for (const auto& file : files_below(docs_dir))
      resources.push_back({.uri = "doc://" + file,
                           .name = file,
                           .title = title_of(docs_dir / file),
                           .mime_type = mime_type_of(file)});
    return resources;
  };
  const auto read = [docs_dir](const std::string& uri) {
    auto bytes = file_below(docs_dir, rest_of(uri));
    if (!bytes) return Result<std::vector<mcp::ResourceContents>>(unknown_resource(uri));
    return Result<std::vector<mcp::ResourceContents>>(contents_of(uri, *std::move(bytes)));
  };
  return {.scheme = "doc", .templates = {}, .list = list, .read = read, .read_ttl_ms = kPagesTtlMs};
}

}  // namespace

std::vector<mcp::ResourceProvider> all_resources(Runs& runs, Knowledge& knowledge,
                                                 const fs::path& docs_dir) {
  return {run_artifacts(runs), knowledge_pages(knowledge), documents(docs_dir)};
}

}  // namespace ratchet
