#include "server/core/roots.h"

#include <fmt/format.h>

#include <utility>

#include "server/core/beneath.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

/// Both are real paths. A folder lies in itself.
bool lies_in(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return false;
  const auto relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// Resolves the part of a path that exists; what follows is only cleaned of "." and "..".
Result<fs::path> resolved(const fs::path& path) {
  std::error_code failed;
  auto real = fs::weakly_canonical(fs::absolute(path, failed), failed);
  if (failed) return invalid_argument(fmt::format("{}: {}", path.string(), failed.message()));
  return real.has_filename() ? real : real.parent_path();
}

}  // namespace

Result<Roots> Roots::open(const Places& places) {
  Places real = places;
  for (auto& root : real.roots) {
    std::error_code failed;
    const auto found = fs::canonical(root, failed);
    if (failed)
      return not_found(fmt::format("--root {}: {}", root.string(), failed.message()),
                       "Name folders that exist.");
    root = found;
  }
  for (auto* own : {&real.state, &real.data}) {
    if (own->empty()) continue;
    auto folder = resolved(*own);
    if (!folder) return folder.error();
    *own = *std::move(folder);
  }
  return Roots(std::move(real));
}

fs::path Roots::root_of(const fs::path& real) const {
  for (const auto& root : places_.roots)
    if (lies_in(real, root)) return root;
  return {};
}

Error Roots::outside(const fs::path& real, const std::string& way) const {
  std::string names;
  for (const auto& root : places_.roots) names += (names.empty() ? "" : ", ") + root.string();
  return {ErrorCode::not_permitted,
          fmt::format("{} is outside the allowed folders ({})", real.string(), names), way};
}

Result<RootFile> Roots::read(const fs::path& path, std::size_t limit) const {
  std::error_code failed;
  auto real = fs::canonical(path, failed);
  if (failed) return not_found(fmt::format("{}: {}", path.string(), failed.message()));
  const auto root = root_of(real);
  if (root.empty())
    return outside(real, "Give the text instead of the path, or start the server with --root DIR.");
  if (lies_in(real, places_.state))
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} lies in the server's state folder, and tools read no files there",
                             real.string()),
                 "Copy the file to a folder of your project."};
  const auto folder = Folder::open(root);
  if (!folder) return folder.error();
  auto bytes = folder->read(real.lexically_relative(root), limit);
  if (!bytes) return bytes.error();
  return RootFile{std::move(real), root, *std::move(bytes)};
}

Result<fs::path> Roots::output_folder(const fs::path& path) const {
  if (path.empty()) return invalid_argument("must be a path");
  auto real = resolved(path);
  if (!real) return real.error();
  if (places_.hold_outputs && root_of(*real).empty())
    return outside(*real,
                   "Choose a folder inside them, or start the server with --root DIR as well.");
  for (const auto& [own, name] :
       {std::pair{places_.state, "state"}, std::pair{places_.data, "data"}}) {
    const bool within = lies_in(*real, own);
    if (within || (!own.empty() && lies_in(own, *real)))
      return Error{ErrorCode::not_permitted,
                   fmt::format("{} {} the server's {} folder {}", real->string(),
                               within ? "lies in" : "contains", name, own.string()),
                   "Choose a folder of your project, outside the server's own folders."};
  }
  return real;
}

}  // namespace ratchet
