// The files that the laboratory keeps in the state folder.

#include "kernels/lab/laboratory.h"
#include "kernels/process/private_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

FileCount shrink_python(const fs::path& root, std::int64_t bytes,
                        const std::set<std::string>& needed, bool dry_run) {
  std::vector<UsedFolder> caches;
  std::error_code failed;
  for (fs::directory_iterator one(root, failed), end; !failed && one != end; one.increment(failed))
    if (!needed.contains(one->path().filename().string()))
      caches.push_back({one->path(), one->path() / PythonCache::kRecord});
  return remove_least_used(std::move(caches), bytes, dry_run);
}

}  // namespace

std::vector<Store> Laboratory::stores(std::function<std::set<std::string>()> needed) {
  const auto root = options.state_dir;
  return {{.name = "compiled Python kernels",
           .measure = [root] { return contents_of(root / "python"); },
           .shrink =
               [root, needed](std::int64_t bytes, bool dry_run) {
                 return shrink_python(root / "python", bytes, needed(), dry_run);
               }},
          {.name = "builds",
           .measure = [this] { return builder.cache().contents(); },
           .shrink =
               [this, needed](std::int64_t bytes, bool dry_run) {
                 return builder.cache().shrink(bytes, needed(), dry_run);
               }},
          {.name = "calibration", .measure = [root] {
             auto all = contents_of(root / "ceilings");
             all += contents_of(root / "noise");
             return all;
           }}};
}

FileCount Laboratory::remove_abandoned(bool dry_run) {
  auto removed = ratchet::remove_abandoned(builder.cache().work_folder(), dry_run);
  removed += ratchet::remove_abandoned(temporary_folder(), dry_run);
  return removed;
}

}  // namespace ratchet
