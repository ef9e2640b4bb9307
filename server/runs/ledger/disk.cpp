#include "server/runs/ledger/disk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "server/core/beneath.h"
#include "server/core/fields.h"
#include "server/core/hash.h"
#include "server/runs/records/markdown.h"
#include "server/runs/records/source_text.h"

namespace ratchet::disk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMissing = "artifact_missing";
constexpr const char* kFolderMissing = "folder_missing";

/// "v12" of "v12/build.md"; empty for files outside version folders.
std::string version_folder(const std::string& path) {
  const auto slash = path.find('/');
  const auto folder = path.substr(0, slash);
  const bool numbered = slash != std::string::npos && folder.size() > 1 && folder[0] == 'v' &&
                        std::all_of(folder.begin() + 1, folder.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
  return numbered ? folder : "";
}

std::array<std::string, 2> contract_files(const RunState& state) {
  return {"contract.json", reference_file_name(state.contract.contract.reference_kind)};
}

Reason changed(const RunState& state, const std::string& path) {
  const std::string folder = version_folder(path);
  const std::string open = state.open().id.text();
  if (const auto files = contract_files(state); std::ranges::find(files, path) != files.end())
    return {
        "contract_changed",
        fmt::format("{} belongs to the frozen contract of run {} and was changed; another contract "
                    "needs another run",
                    path, state.run.text),
        path};
  if (folder == open &&
      path == open + "/" + kernel_file_name(state.contract.contract.implementation))
    return {"kernel_changed",
            fmt::format("{} is not the kernel that {} was built from", path, open), path};
  if (!folder.empty() && folder != open)
    return {"earlier_version_changed",
            fmt::format("{} belongs to an earlier version and was changed", path), path};
  return {"artifact_changed", fmt::format("{} is not what the server wrote", path), path};
}

/// Reads one file of the run's folder; a symbolic link on the way is not followed.
Result<std::string> read_artifact(const RunState& state, const std::string& path) {
  const auto folder = Folder::open(state.contract.output_dir);
  if (!folder) return folder.error();
  return folder->read(path);
}

/// Reads one artifact and compares it with its digest.
void inspect_file(const RunState& state, const std::string& path, const std::string& digest,
                  std::vector<Reason>& findings) {
  const auto bytes = read_artifact(state, path);
  if (bytes && sha256_hex(*bytes) == digest) return;
  if (bytes || bytes.error().code != ErrorCode::not_found)
    findings.push_back(changed(state, path));
  else
    findings.push_back(
        {kMissing, fmt::format("{} is missing; the next step writes it again", path), path});
}

/// v0, the parent and the open version, some of which may be the same.
std::set<VersionId> versions_of_step(const RunState& state) {
  std::set<VersionId> versions{VersionId{0}, state.open().id};
  if (state.open().parent) versions.insert(*state.open().parent);
  return versions;
}

std::optional<Reason> inspect_state_file(const RunState& state) {
  const auto text = read_artifact(state, kStateFile);
  const std::string expected = state.open().id.text();
  if (!text)
    return Reason{"state_file_missing",
                  fmt::format("{} is missing or unreadable; check_gate writes {} there again",
                              kStateFile, expected),
                  kStateFile};
  std::string seen;
  for (const char c : *text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) seen += c;
  if (seen == expected) return std::nullopt;
  return Reason{"state_file_changed",
                fmt::format("{} says \"{}\", but {} is open; check_gate, which alone writes this "
                            "file, corrects it",
                            kStateFile, seen.substr(0, 40), expected),
                kStateFile};
}

bool holds_files(const fs::path& folder) {
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (!at->is_directory(failed)) return true;
  return false;
}

/// A version folder that must not exist yet, or whose name is not canonical.
std::optional<Reason> inspect_folder(const RunState& state, const std::string& name,
                                     const fs::path& folder) {
  if (version_folder(name + "/").empty()) return std::nullopt;
  const std::string digits = name.substr(1);
  if (digits.size() > 1 && digits[0] == '0')
    return Reason{
        "bad_version_name",
        fmt::format("{} is not the name of a version: these are v0, v1, … without leading zeros",
                    name),
        name};
  const bool later = digits.size() > 9 || std::stoi(digits) > state.open().id.number;
  if (!later || !holds_files(folder)) return std::nullopt;
  return Reason{
      "future_artifacts",
      fmt::format("{} holds files, but {} is still open: versions are created one after another",
                  name, state.open().id.text()),
      name};
}

bool is_source_suffix(const std::string& suffix) {
  constexpr std::array<std::string_view, 6> kSources{".py", ".cu", ".cpp", ".cc", ".cxx", ".c++"};
  return std::ranges::find(kSources, suffix) != kSources.end();
}

/// Other kernel files in the folder of the open version.
void inspect_open_folder(const RunState& state, std::vector<Reason>& reasons) {
  const std::string open = state.open().id.text();
  const std::string own = kernel_file_name(state.contract.contract.implementation);
  const fs::path folder = fs::path(state.contract.output_dir) / open;
  std::error_code failed;
  if (fs::is_symlink(folder, failed)) return;  // not ours to list; its files are found changed
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const std::string path = open + "/" + name;
    if (name == own || state.artifacts.contains(path) || at->is_directory(failed)) continue;
    if (is_source_suffix(at->path().extension().string()))
      reasons.push_back(
          {"several_kernels",
           fmt::format("{} is a second source beside {}, but a version has one kernel file", path,
                       own),
           path});
    else if (at->path().stem() == "kernel")
      reasons.push_back({"foreign_suffix",
                         fmt::format("{} looks like a kernel, but the kernel of a {} run is {}",
                                     path, name_of(state.contract.contract.implementation), own),
                         path});
  }
}

void inspect_folders(const RunState& state, std::vector<Reason>& reasons) {
  std::error_code failed;
  std::vector<Reason> found;
  for (fs::directory_iterator at(state.contract.output_dir, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!at->is_directory(failed)) continue;
    if (auto reason = inspect_folder(state, at->path().filename().string(), at->path()))
      found.push_back(*std::move(reason));
  }
  std::ranges::sort(found, {}, [](const Reason& reason) { return reason.path; });
  reasons.insert(reasons.end(), found.begin(), found.end());
}

/// The files and folders here whose names a run uses.
Result<std::vector<std::string>> names_of_a_run(const fs::path& folder) {
  constexpr std::array<std::string_view, 15> kOurs{
      "ref.py",      "ref.cpp",      "ref.cu",     "env_check.md",    "contract.json",
      kStateFile,    "benchmark.md", "benchmarks", "final_report.md", "summary.md",
      "report.html", "ledgers",      "memory",     "plans",           "dispatch"};
  std::vector<std::string> used;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (std::ranges::find(kOurs, name) != kOurs.end() || !version_folder(name + "/").empty())
      used.push_back(name);
  }
  if (failed)
    return unavailable(fmt::format("cannot list {}: {}", folder.string(), failed.message()),
                       "Choose another output_dir.");
  std::ranges::sort(used);
  return used;
}

/// The run that a contract.json names; empty if it names none.
std::string run_named_in(const std::string& contract) {
  const Json json = markdown::parsed_json(contract);
  return json.is_object() && json.contains("run") && json["run"].is_string()
             ? json["run"].get<std::string>()
             : "";
}

/// Whether a server wrote a run here: its contract names the run.
bool is_of_a_run(const Folder& folder) {
  const auto contract = folder.read("contract.json");
  return contract && folder.read(kStateFile) && !run_named_in(*contract).empty();
}

/// What of these names is a run's, and may be moved.
Result<std::vector<std::string>> names_to_move(const fs::path& folder) {
  auto used = names_of_a_run(folder);
  if (!used || used->empty()) return used;
  const auto held = Folder::open(folder);
  if (!held) return held.error();
  if (!is_of_a_run(*held))
    return Error{
        ErrorCode::conflict,
        fmt::format("output_dir: {} holds files under names that a run uses, but no run wrote "
                    "them (a run has a contract.json and a {}): {}",
                    folder.string(), kStateFile, fmt::join(*used, ", ")),
        "Nothing was moved or changed. Choose a new or empty folder."};
  return used;
}

}  // namespace

std::optional<Reason> taken(const RunState& state) {
  const auto contract = read_artifact(state, "contract.json");
  const auto recorded = state.artifacts.find("contract.json");
  if (!contract || recorded == state.artifacts.end() || sha256_hex(*contract) == recorded->second)
    return std::nullopt;
  const auto run = run_named_in(*contract);
  if (run.empty() || run == state.run.text) return std::nullopt;
  return Reason{"folder_taken",
                fmt::format("{} now belongs to run {}, so run {} can write nothing there any more; "
                            "its records stay in the ledger",
                            state.contract.output_dir, run.substr(0, 80), state.run.text),
                state.contract.output_dir};
}

std::vector<Reason> inspect(const RunState& state, Extent extent) {
  if (std::error_code ignored; !fs::is_directory(state.contract.output_dir, ignored))
    return {{kFolderMissing,
             fmt::format("{} is missing; the next step writes it and its files again",
                         state.contract.output_dir),
             state.contract.output_dir}};
  if (const auto folder = Folder::open(state.contract.output_dir); !folder)
    return {{"contract_changed", fmt::format("{}; {}", folder.error().message, folder.error().hint),
             state.contract.output_dir}};
  if (auto reason = taken(state)) return {*std::move(reason)};
  std::vector<Reason> reasons;
  if (extent == Extent::whole) {
    if (auto reason = inspect_state_file(state)) reasons.push_back(*std::move(reason));
    for (const auto& [path, digest] : state.artifacts) inspect_file(state, path, digest, reasons);
  } else {
    reasons = inspect_contract(state);
    for (const auto id : versions_of_step(state))
      for (const auto& [path, digest] : state.artifacts_in(id.text()))
        inspect_file(state, path, digest, reasons);
  }
  inspect_folders(state, reasons);
  inspect_open_folder(state, reasons);
  return reasons;
}

std::vector<Reason> inspect_contract(const RunState& state) {
  std::vector<Reason> reasons;
  for (const auto& path : contract_files(state))
    if (const auto found = state.artifacts.find(path); found != state.artifacts.end())
      inspect_file(state, path, found->second, reasons);
  return reasons;
}

std::vector<std::string> missing(const RunState& state, const std::vector<Reason>& findings) {
  std::vector<std::string> paths;
  for (const auto& finding : findings) {
    if (finding.code == kMissing) paths.push_back(*finding.path);
    if (finding.code != kFolderMissing) continue;
    for (const auto& [path, digest] : state.artifacts) paths.push_back(path);
  }
  return paths;
}

std::optional<Error> blocking(const std::vector<Reason>& findings, Event event) {
  constexpr std::array<std::string_view, 5> kAlways{"contract_changed", "earlier_version_changed",
                                                    "future_artifacts", "bad_version_name",
                                                    "folder_taken"};
  std::string message;
  for (const auto& finding : findings) {
    const bool kernel = finding.code == "kernel_changed" && event != Event::submitted;
    if (!kernel && std::ranges::find(kAlways, finding.code) == kAlways.end()) continue;
    message += fmt::format("{}{}: {}", message.empty() ? "" : "\n", finding.code, finding.message);
  }
  if (message.empty()) return std::nullopt;
  return Error{ErrorCode::drift, message, ""};
}

Status may_move_aside(const fs::path& folder) {
  if (auto names = names_to_move(folder); !names) return names.error();
  return {};
}

Status move_aside(const fs::path& folder, const std::string& suffix) {
  const auto names = names_to_move(folder);
  if (!names) return names.error();
  if (names->empty()) return {};
  const auto held = Folder::open(folder);
  if (!held) return held.error();
  for (const auto& name : *names)
    if (auto moved = held->move(name, fs::path("previous-" + suffix) / name); !moved)
      return Error{moved.error().code,
                   "cannot move the files of the earlier run aside: " + moved.error().message,
                   "Choose another output_dir."};
  return {};
}

}  // namespace ratchet::disk
