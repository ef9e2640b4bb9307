#include "kernels/process/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

// Older servers named theirs "ratchet-" alone and held no lock on them.
constexpr std::string_view kFolderPrefix = "ratchet-held-";
constexpr int kTries = 16;
constexpr unsigned kNobody = 65534;  // the overflow user of every Linux
// Numbers far above what systems give to users: so many for each server, told apart by process
// number.
constexpr unsigned kFirstOwn = 2'000'000'000;
constexpr unsigned kOfServer = 500;

/// Gives the folder to a user of its own; to `nobody` where the system maps no such user.
void give_away(const std::filesystem::path& folder) {
  static std::atomic<unsigned> count{0};
  if (::geteuid() != 0) return;
  const auto user = kFirstOwn + static_cast<unsigned>(::getpid()) * kOfServer + count++ % kOfServer;
  if (::chown(folder.c_str(), user, user) != 0) (void)!::chown(folder.c_str(), kNobody, kNobody);
}

/// The lock of a folder that nobody else holds; none if someone does, or removed it meanwhile.
Fd lock_of(const fs::path& folder) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat held{};
  struct stat named{};
  const bool ours = lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::fstat(lock.get(), &held) == 0 && ::lstat(folder.c_str(), &named) == 0 &&
                    held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (!ours) lock.reset();
  return lock;
}

/// Whether a folder is of this user, or was given away by it.
bool is_own(const fs::path& folder) {
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  const bool given = info.st_uid >= kFirstOwn || info.st_uid == kNobody;
  return info.st_uid == ::geteuid() || (::geteuid() == 0 && given);
}

}  // namespace

Result<PrivateFolder> PrivateFolder::make_in(const fs::path& parent) {
  const auto refused = [](const char* what, const std::string& name) {
    const int code = errno;
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot {} the folder {}: {}", what, name, std::strerror(code)),
                 code == EACCES ? "Make its parent folder writable." : std::string(hint_for(code))};
  };
  std::string name;
  // Another server may take a folder for abandoned in the moment before it is locked.
  for (int i = 0; i < kTries; ++i) {
    name = (parent / fmt::format("{}XXXXXX", kFolderPrefix)).string();
    if (!::mkdtemp(name.data())) return refused("create", name);
    auto lock = lock_of(name);
    if (!lock) continue;
    give_away(name);
    return PrivateFolder(name, std::move(lock));
  }
  return refused("lock", name);
}

fs::path temporary_folder() {
  std::error_code failed;
  auto folder = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : folder;
}

Result<PrivateFolder> PrivateFolder::make() {
  auto folder = make_in(temporary_folder());
  if (!folder)
    return Error{folder.error().code, folder.error().message,
                 folder.error().hint + " Or set TMPDIR to another folder."};
  return folder;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // a worker may have made it hard to remove; it is a temporary folder
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

FileCount remove_abandoned(const fs::path& parent, bool dry_run) {
  FileCount removed;
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto& path = entry->path();
    if (!path.filename().string().starts_with(kFolderPrefix) || !is_own(path)) continue;
    const auto lock = lock_of(path);
    if (!lock) continue;
    const auto found = contents_of(path);
    std::error_code stays;
    if (!dry_run) fs::remove_all(path, stays);
    if (!stays) removed += found;
  }
  return removed;
}

}  // namespace ratchet
