#include "tools/recorded_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "server/core/field.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFile = std::size_t{16} << 20U;
constexpr std::size_t kMostBytes = std::size_t{48} << 20U;
constexpr std::size_t kMostFiles = 1024;
constexpr int kMostUp = 4;  // from a problem to its checkout
constexpr const char* kKind = "safetensors";

/// The paths that the lines of workloads name, each once.
std::set<std::string> paths_in(const ProblemImport& import) {
  std::set<std::string> paths;
  for (const auto& [name, text] : import.files) {
    if (!name.ends_with(".jsonl")) continue;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && paths.size() < kMostFiles;) {
      const auto read = Json::parse(line, nullptr, false);
      if (!read.is_object()) continue;           // the format's own code says what is wrong with it
      const auto inner = read.find("workload");  // of traces
      const auto& workload = inner != read.end() && inner->is_object() ? *inner : read;
      const auto inputs = workload.find("inputs");
      if (inputs == workload.end() || !inputs->is_object()) continue;
      for (const auto& one : *inputs)
        if (one.is_object() && one.contains("path") && one["path"].is_string() &&
            one.contains("type") && one["type"] == kKind)
          paths.insert(one["path"].get<std::string>());
    }
  }
  return paths;
}

/// Where a path leads from the folder or one above it; empty: nowhere.
fs::path found_above(fs::path folder, const fs::path& path) {
  std::error_code failed;
  for (int up = 0; up <= kMostUp; ++up, folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / path, failed)) return folder / path;
    if (!folder.has_relative_path()) break;
  }
  return {};
}

/// The bytes of one file, or why they are not read.
Result<std::string> bytes_of(const Roots& roots, const fs::path& folder, const std::string& name,
                             std::size_t room) {
  const auto path = fs::path(name).lexically_normal();
  const bool leaves = path.is_absolute() || (!path.empty() && *path.begin() == "..");
  if (leaves || path.extension() != fmt::format(".{}", kKind))
    return invalid_argument(fmt::format(
        "recorded inputs are read from .{} files below the checkout alone: name one so", kKind));
  const auto there = found_above(folder, path);
  if (there.empty())
    return not_found(
        fmt::format("that file is neither beside the problem nor beside one of the {} folders "
                    "above it: put the suite's recorded inputs there",
                    kMostUp));
  auto file = roots.read(there, kMostFile);
  if (!file) return file.error();
  if (file->bytes.size() > room)
    return invalid_argument(
        fmt::format("all files of recorded inputs are read up to {} bytes together: import a "
                    "problem with fewer workloads",
                    kMostBytes));
  return std::move(file->bytes);
}

}  // namespace

void add_recorded_inputs(const Roots& roots, const fs::path& folder, ProblemImport& import) {
  std::size_t room = kMostBytes;
  for (const auto& path : paths_in(import)) {
    auto bytes = bytes_of(roots, folder, path, room);
    if (!bytes) {
      import.unread[path] = bytes.error().message;
      continue;
    }
    room -= bytes->size();
    import.recorded[path] = base64(*bytes);
  }
}

}  // namespace ratchet
