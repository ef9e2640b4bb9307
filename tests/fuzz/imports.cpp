// A folder of any files is read or refused; what the report says of it holds. An input is the files
// of the folder, each after a line "=== path".

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "server/core/text.h"
#include "server/runs/imports/import_tree.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "=== ";
constexpr int kMostFiles = 64;

/// An empty folder of this process, the same for all inputs.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("ratchet-fuzz-import-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Writes a file below the folder; names that lead out of it, or that no file can have, are left
/// out.
void add(const fs::path& folder, std::string_view name, std::string_view text) {
  const fs::path path(name);
  const bool inside = path.is_relative() && std::ranges::none_of(path, [](const fs::path& part) {
                        return part == ".." || part.native().size() > 64;
                      });
  if (!inside || name.empty() || name.size() > 512 || name.find('\0') != std::string_view::npos)
    return;
  std::error_code failed;
  fs::create_directories((folder / path).parent_path(), failed);
  std::ofstream(folder / path, std::ios::binary) << text;
}

void fill(const fs::path& folder, std::string_view bytes) {
  for (int files = 0; files < kMostFiles && bytes.starts_with(kMark); ++files) {
    const auto line = std::min(bytes.find('\n'), bytes.size());
    const auto name = bytes.substr(kMark.size(), line - kMark.size());
    bytes.remove_prefix(std::min(line + 1, bytes.size()));
    const auto next = bytes.starts_with(kMark) ? 0 : bytes.find("\n=== ");
    const auto end = next == std::string_view::npos ? bytes.size() : next == 0 ? 0 : next + 1;
    add(folder, name, bytes.substr(0, end));
    bytes.remove_prefix(end);
  }
}

void check_version(const ImportedVersion& version, const fs::path& folder) {
  require(version.kernel.has_value() == version.kernel_digest.has_value(),
          "a kernel that was read has a digest");
  if (!version.kernel) return;
  require(!version.kernel->starts_with("..") && fs::is_regular_file(folder / *version.kernel),
          "a kernel lies below the folder");
  require(version.kernel_digest->size() == 64, "a digest is a SHA-256");
}

}  // namespace

void imports(std::string_view bytes) {
  const Folder folder;
  fill(folder.path(), bytes);
  const auto report = import_tree(folder.path());
  if (!report) {
    require(!report.error().hint.empty(), "a refusal says what to do");
    return;
  }
  require(report->versions.size() <= 1000 && !report->next.empty(),
          "a report is bounded and says what to do next");
  for (const auto& version : report->versions) check_version(version, folder.path());
  const Json written = encode(*report);
  const auto read = decode<ImportReport>(written);
  require(read && encode(*read) == written, "a report that was written out reads the same");
}

}  // namespace ratchet::fuzz
