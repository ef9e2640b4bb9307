#include "server/runs/imports/import_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "server/core/bounded_json.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/runs/imports/original_rules.h"
#include "server/runs/records/source_text.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJson = std::size_t{8} << 20U;
constexpr std::size_t kMostKernel = std::size_t{4} << 20U;
constexpr std::size_t kMostVersions = 1000;

/// Entries of a folder named by a prefix and a number, such as v0, v1, …
std::map<int, fs::path> numbered(const fs::path& folder, std::string_view prefix,
                                 std::string_view suffix = "") {
  std::map<int, fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    auto name = at->path().filename().string();
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    if (const auto number = original::number_after(name, prefix)) found[*number] = at->path();
  }
  return found;
}

std::optional<std::string> first_of(const fs::path& folder,
                                    std::initializer_list<const char*> names) {
  std::error_code failed;
  for (const char* name : names)
    if (fs::is_regular_file(folder / name, failed)) return name;
  return std::nullopt;
}

/// A path of a file, absolute or below the folder, as it is below the folder; empty for others.
fs::path path_below(const fs::path& folder, const fs::path& file) {
  std::error_code failed;
  const auto root = fs::canonical(folder, failed);
  const auto real = failed ? fs::path() : fs::canonical(root / file, failed);
  if (failed) return {};
  const auto path = real.lexically_relative(root);
  return *path.begin() == ".." ? fs::path() : path;
}

Json json_of(const fs::path& path) {
  const auto text = read_file(path, kMostJson);
  return text ? bounded_json(*text).value_or(Json()) : Json();
}

/// Adds the kernel with its digest, and whether it differs from the previous one.
void take_kernel(ImportedVersion& version, const fs::path& root, const fs::path& kernel,
                 std::string& before) {
  const auto text = read_file(kernel, kMostKernel);
  if (!text) {
    version.problems.push_back({"kernel_unreadable", text.error().message, kernel.string()});
    return;
  }
  version.kernel = kernel.lexically_relative(root).string();
  version.kernel_digest = sha256_hex(*text);
  const auto stripped = stripped_source(*text, kernel.extension() == ".py");
  if (!before.empty())
    (stripped == before
         ? version.claimed.emplace_back("a change: the kernel is the one before but for comments "
                                        "and white space")
         : version.verified.emplace_back("the kernel differs from the one before"));
  before = stripped;
}

void note_claims(ImportedVersion& version, const fs::path& folder,
                 const std::vector<std::pair<const char*, const char*>>& files) {
  std::error_code failed;
  for (const auto& [name, what] : files)
    if (fs::is_regular_file(folder / name, failed))
      version.claimed.push_back(fmt::format("{} ({})", what, name));
}

ImportReport read_versions(const fs::path& root) {
  ImportReport report;
  report.layout = TreeLayout::kernel_opt_agent;
  const auto folders = numbered(root, "v");
  std::string before;
  for (const auto& [number, folder] : folders) {
    ImportedVersion version;
    version.version = fmt::format("v{}", number);
    if (const auto kernel = original::kernel_of(folder))
      take_kernel(version, root, *kernel, before);
    note_claims(version, folder,
                {{"correctness.md", "correctness"},
                 {"ncu_summary.md", "times and counters"},
                 {"ncu_details.md", "counters"},
                 {"kbs_evidence.md", "queries and their results"},
                 {"hypothesis.txt", "reasoning"}});
    report.versions.push_back(std::move(version));
  }
  for (auto& reason : original::check_tree(root, folders.rbegin()->first)) {
    const std::string owner =
        reason.path ? fs::path(*reason.path).begin()->string() : std::string();
    const auto found = std::ranges::find(report.versions, owner, &ImportedVersion::version);
    auto& list = found == report.versions.end() ? report.problems : found->problems;
    list.push_back(std::move(reason));
  }
  for (auto& version : report.versions)
    if (version.problems.empty())
      version.verified.emplace_back("files and headings are complete and in order");
  report.reference = first_of(root, {"ref.py", "ref.cu", "ref.cpp"});
  return report;
}

/// A member as one line of text.
std::string field_text(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return "";
  const auto& value = json[key];
  auto text = value.is_string() ? value.get<std::string>() : value.dump();
  std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return text;
}

/// The beginning of a claim, cut between two characters.
std::string_view beginning(std::string_view text) {
  std::size_t end = 200;
  while (end < text.size() && (text[end] & '\xC0') == '\x80') --end;
  return text.substr(0, end);
}

ImportReport read_state(const fs::path& root) {
  ImportReport report;
  report.layout = TreeLayout::cuda_kernel_optimizer;
  const Json state = json_of(root / "state.json");
  if (!state.is_object())
    report.problems.push_back(
        {"state_unreadable", "state.json is not a JSON object", "state.json"});
  std::string before;
  const Json history = state.is_object() && state.contains("history") ? state["history"] : Json();
  for (const auto& entry : history.is_array() ? history : Json::array()) {
    if (report.versions.size() == kMostVersions) {
      report.problems.push_back({"too_many",
                                 fmt::format("history has {} entries; the first {} are read",
                                             history.size(), kMostVersions),
                                 "state.json"});
      break;
    }
    ImportedVersion version;
    version.version = "iter " + field_text(entry, "iter");
    const fs::path kernel = field_text(entry, "kernel_file");
    std::error_code failed;
    if (kernel.empty() || !fs::is_regular_file(root / kernel, failed))
      version.problems.push_back(
          {"kernel_missing", "the kernel file does not exist", kernel.string()});
    else if (const auto inside = path_below(root, kernel); inside.empty())
      version.problems.push_back(
          {"kernel_outside", "the kernel file lies outside of the folder", kernel.string()});
    else
      take_kernel(version, root, root / inside, before);
    for (const char* key :
         {"ms", "ref_ms", "speedup_vs_ref", "validation_passed", "status", "methods"})
      if (const auto text = field_text(entry, key); !text.empty())
        version.claimed.push_back(fmt::format("{} = {}", key, beginning(text)));
    report.versions.push_back(std::move(version));
  }
  if (const auto best = field_text(state, "best_file"); !best.empty()) report.best = best;
  if (const auto ref = field_text(state, "ref_file"); !ref.empty()) report.reference = ref;
  for (const char* list :
       {"effective_methods", "ineffective_methods", "implementation_failed_methods"})
    if (const auto text = field_text(state, list); !text.empty() && text != "[]")
      report.problems.push_back({"claimed_only",
                                 fmt::format("{}: {}: not confirmed by an ablation of this server",
                                             list, beginning(text)),
                                 "state.json"});
  return report;
}

ImportReport read_memory_tree(const fs::path& root) {
  ImportReport report;
  report.layout = TreeLayout::gpu_kernel_optimizer;
  for (const auto& [number, path] : numbered(root / "memory", "v", ".json")) {
    ImportedVersion version;
    version.version = fmt::format("v{}", number);
    const Json record = json_of(path);
    const auto file = fmt::format("memory/v{}.json", number);
    if (!record.is_object()) {
      version.problems.push_back({"record_unreadable", file + " is not a JSON object", file});
      report.versions.push_back(std::move(version));
      continue;
    }
    int present = 0;
    constexpr std::array kKeys{"version",          "performance", "optimization",
                               "profile_evidence", "correctness", "quality_gate"};
    for (const char* key : kKeys) present += record.contains(key) ? 1 : 0;
    if (present == static_cast<int>(kKeys.size()))
      version.verified.emplace_back("the record has the fields of the original shape");
    else
      version.problems.push_back({"fields_missing", file + " lacks fields of the shape", file});
    for (const char* key : {"performance", "correctness", "quality_gate", "git_commit_hash"})
      if (const auto text = field_text(record, key); !text.empty() && text != "null")
        version.claimed.push_back(fmt::format("{} = {}", key, beginning(text)));
    std::error_code failed;
    if (const auto plan = fmt::format("plans/v{}_plan.md", number); fs::exists(root / plan, failed))
      version.claimed.push_back("search and plan (" + plan + ")");
    report.versions.push_back(std::move(version));
  }
  report.reference = first_of(root, {"reference.py", "ref.py"});
  if (const auto kernel = first_of(root, {"kernel.py", "kernel.cu"});
      kernel && !report.versions.empty()) {
    std::string before;
    take_kernel(report.versions.back(), root, root / *kernel, before);
  }
  return report;
}

std::string next_of(const ImportReport& report) {
  std::string kernel = "the kernel";
  for (const auto& version : report.versions)
    if (version.kernel) kernel = *version.kernel;
  return fmt::format(
      "Nothing here was measured by this server. Call create_run with kernel {{path: {}}} and "
      "reference {{path: {}}}; v0 is then checked and timed.",
      kernel, report.reference.value_or("…"));
}

}  // namespace

Result<ImportReport> import_tree(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return not_found(fmt::format("{} is not a folder", folder.string()));
  std::optional<ImportReport> report;
  if (fs::is_regular_file(folder / "state.json", failed))
    report = read_state(folder);
  else if (!numbered(folder, "v").empty())
    report = read_versions(folder);
  else if (!numbered(folder / "memory", "v", ".json").empty())
    report = read_memory_tree(folder);
  if (!report)
    return invalid_argument(
        fmt::format("{} holds none of v0/, state.json and memory/v0.json", folder.string()),
        "Name the folder that a workflow of kernel-opt-agent, cuda-kernel-optimizer or "
        "gpu-kernel-optimizer left.");
  report->next = next_of(*report);
  if (const auto run = field_text(json_of(folder / "contract.json"), "run"); !run.empty())
    report->next = fmt::format(
        "ratchet wrote this tree: `ratchet audit {}` checks it against the ledger.", run);
  return *std::move(report);
}

}  // namespace ratchet
