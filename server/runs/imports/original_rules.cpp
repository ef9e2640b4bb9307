#include "server/runs/imports/original_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "server/core/files.h"
#include "server/core/text.h"

namespace ratchet::original {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
constexpr std::array<std::string_view, 3> kCommonFiles{"correctness.md", "ncu_summary.md",
                                                       "ncu_details.md"};

/// Only the title of the evidence may be followed by more text on its line, after a dash.
bool is_heading(std::string_view line, std::string_view heading) {
  if (line == heading) return true;
  return heading == "# KBS Evidence" && line.starts_with("# KBS Evidence -");
}

std::string text_of(const fs::path& path) {
  auto text = read_file(path, kMostBytes);
  return text ? *std::move(text) : "";
}

void check_file(std::vector<Reason>& reasons, const fs::path& folder, std::string_view name,
                const std::vector<std::string_view>& headings) {
  const auto path = fs::path(folder.filename()) / name;
  std::error_code failed;
  if (!fs::exists(folder / name, failed)) {
    reasons.push_back({"file_missing", path.string() + " is missing", path.string()});
    return;
  }
  const auto text = text_of(folder / name);
  if (text.empty()) {
    reasons.push_back({"file_empty", path.string() + " is empty", path.string()});
    return;
  }
  if (const auto missing = missing_heading(text, headings))
    reasons.push_back({"heading_missing",
                       fmt::format("{}: \"{}\" must be on a line of its own, in its place",
                                   path.string(), *missing),
                       path.string()});
}

void check_kernel(std::vector<Reason>& reasons, const fs::path& root, int version) {
  const auto folder = root / fmt::format("v{}", version);
  const auto kernel = kernel_of(folder);
  if (!kernel) {
    reasons.push_back({"kernel_unclear", fmt::format("v{} has no kernel, or several", version),
                       fmt::format("v{}", version)});
    return;
  }
  if (version == 0) return;
  const auto before = kernel_of(root / fmt::format("v{}", version - 1));
  if (before && text_of(*before) == text_of(*kernel))
    reasons.push_back({"kernel_unchanged",
                       fmt::format("the kernels of v{} and v{} are the same", version - 1, version),
                       fmt::format("v{}", version)});
}

bool is_control(char c) {
  return (c >= 0 && c < ' ') || c == '\x7f';
}

void check_state(std::vector<Reason>& reasons, const fs::path& root, int last) {
  const auto text = text_of(root / "current_iteration.txt").substr(0, 64);
  const auto line = trimmed(text);
  const auto end = std::ranges::find_if(line, is_control);
  const auto state = trimmed(line.substr(0, static_cast<std::size_t>(end - line.begin())));
  if (state != fmt::format("v{}", last))
    reasons.push_back(
        {"state_differs",
         fmt::format("current_iteration.txt says \"{}\", the last version is v{}", state, last),
         "current_iteration.txt"});
}

/// The numbers of the versions up to the last that have a folder: the last may be any number.
std::set<int> versions_in(const fs::path& folder, int last) {
  std::set<int> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (const auto number = number_after(at->path().filename().string(), "v");
        number && *number <= last)
      found.insert(*number);
  return found;
}

}  // namespace

const std::vector<std::string_view>& hypothesis_headings() {
  static const std::vector<std::string_view> headings{
      "Version:",       "Current evidence:", "Decision link:",
      "Single change:", "Rationale:",        "Expected metric movement:",
      "Risk:",          "Evidence used:",    "Decision rule:"};
  return headings;
}

const std::vector<std::string_view>& evidence_headings() {
  static const std::vector<std::string_view> headings{
      "# KBS Evidence",       "## NCU Facts",         "## Queries",
      "## Selected Evidence", "## Rejected / Limits", "## Decision Link"};
  return headings;
}

std::optional<std::string> missing_heading(std::string_view text,
                                           const std::vector<std::string_view>& headings) {
  std::size_t next = 0;
  while (!text.empty() && next < headings.size()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (is_heading(trimmed(text.substr(0, end)), headings[next])) ++next;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (next == headings.size()) return std::nullopt;
  return std::string(headings[next]);
}

std::optional<int> number_after(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data() + prefix.size(), end, number);
  if (code != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

std::optional<fs::path> kernel_of(const fs::path& folder) {
  std::error_code failed;
  for (const char* name : {"kernel.py", "kernel.cu", "kernel.cpp"})
    if (fs::is_regular_file(folder / name, failed)) return folder / name;
  std::vector<fs::path> others;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto suffix = at->path().extension();
    const bool source = suffix == ".py" || suffix == ".cu" || suffix == ".cpp";
    if (source && at->path().stem() != "ref") others.push_back(at->path());
  }
  if (others.size() != 1) return std::nullopt;
  return others.front();
}

std::vector<Reason> check_tree(const fs::path& folder, int last) {
  std::vector<Reason> reasons;
  check_state(reasons, folder, last);
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto name = at->path().filename().string();
    const auto number = number_after(name, "v");
    if (number && *number > last && !fs::is_empty(at->path(), failed))
      reasons.push_back({"future_artifacts", name + " is later than the last version", name});
  }
  int next = 0;
  for (const int version : versions_in(folder, last)) {
    if (version > next)
      reasons.push_back({"file_missing",
                         fmt::format("versions are missing: v{} to v{}", next, version - 1),
                         fmt::format("v{}", next)});
    next = version + 1;
    const auto one = folder / fmt::format("v{}", version);
    for (const auto name : kCommonFiles) check_file(reasons, one, name, {});
    check_file(reasons, one, "kbs_evidence.md", evidence_headings());
    if (version < last || fs::exists(one / "hypothesis.txt", failed))
      check_file(reasons, one, "hypothesis.txt", hypothesis_headings());
    check_kernel(reasons, folder, version);
  }
  return reasons;
}

}  // namespace ratchet::original
