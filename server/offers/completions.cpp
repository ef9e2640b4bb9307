#include "server/offers/completions.h"

#include <optional>

namespace ratchet {
namespace {

constexpr int kMost = 101;  // the protocol sends 100
constexpr int kRunsAPage = 100;

using Others = std::map<std::string, std::string>;

std::optional<RunStatus> run_named(Runs& runs, const Others& others) {
  const auto run = others.find("run");
  if (run == others.end()) return std::nullopt;
  auto status = runs.status(RunId{run->second});
  return status ? std::optional(*std::move(status)) : std::nullopt;
}

std::vector<std::string> starting_with(const std::string& typed,
                                       const std::vector<std::string>& all) {
  std::vector<std::string> values;
  for (const auto& one : all)
    if (one.starts_with(typed) && values.size() < kMost) values.push_back(one);
  return values;
}

}  // namespace

mcp::Complete run_ids(Runs& runs) {
  return [&runs](const std::string& typed, const Others&) {
    std::vector<std::string> ids;
    std::optional<std::string> cursor;
    do {
      auto page = runs.list(kRunsAPage, cursor);
      if (!page) break;
      for (const auto& run : page->runs)
        if (run.run.text.starts_with(typed)) ids.push_back(run.run.text);
      cursor = page->next_cursor;
    } while (cursor && ids.size() < kMost);
    return starting_with(typed, ids);
  };
}

mcp::Complete versions(Runs& runs) {
  return [&runs](const std::string& typed, const Others& others) {
    std::vector<std::string> names;
    if (const auto status = run_named(runs, others))
      for (const auto& row : status->versions) names.push_back(row.version.text());
    return starting_with(typed, names);
  };
}

mcp::Complete artifacts(Runs& runs) {
  return [&runs](const std::string& typed, const Others& others) {
    const auto status = run_named(runs, others);
    if (!status) return std::vector<std::string>{};
    const auto version = others.find("version");
    const std::string folder = version == others.end() ? "" : version->second + "/";
    std::vector<std::string> names;
    for (const auto& path : runs.artifacts(status->run).value_or(std::vector<std::string>{}))
      if (path.starts_with(folder)) names.push_back(path.substr(folder.size()));
    return starting_with(typed, names);
  };
}

mcp::Complete page_ids(Knowledge& knowledge) {
  return [&knowledge](const std::string& typed, const Others&) {
    return knowledge.page_ids(typed, kMost).value_or(std::vector<std::string>{});
  };
}

}  // namespace ratchet
