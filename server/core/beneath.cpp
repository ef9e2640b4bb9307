#include "server/core/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/files.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kHalfWritten = ".ratchet-";  // within the names of files being written
constexpr int kTries = 8;
constexpr int kDeepest = 8;

bool is_link(int folder, const std::string& name) {
  struct stat info{};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

/// What errno says about `name` in `folder`, where `path` is its name in messages.
Error beneath_error(std::string_view what, int folder, const std::string& name,
                    const fs::path& path) {
  const int code = errno;
  if ((code == ELOOP || code == ENOTDIR) && is_link(folder, name))
    return {ErrorCode::not_permitted,
            fmt::format("cannot {} {}: it is a symbolic link, and could lead elsewhere", what,
                        path.string()),
            "Put the file or folder itself in its place."};
  return {code == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
          fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(code)),
          std::string(hint_for(code))};
}

/// A file under a name that nobody has, locked by this process until it is closed: one without a
/// lock was left by a killed process. `temporary` becomes its name.
Fd make_temporary(int folder, const std::string& name, std::string& temporary) {
  static std::atomic<unsigned> counter{0};
  Fd file;
  for (int i = 0; i < kTries; ++i) {
    temporary = fmt::format(".{}{}{}-{}", name, kHalfWritten, ::getpid(), counter++);
    constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file.reset(::openat(folder, temporary.c_str(), kNew, 0644));
    if (!file) return file;
    (void)::flock(file.get(), LOCK_EX);
    // Before the lock was taken, another process may have taken the file for a dead one's.
    struct stat info{};
    if (::fstat(file.get(), &info) == 0 && info.st_nlink > 0) return file;
  }
  return file;
}

/// The names in a folder, except "." and "..".
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Fd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> all(readable ? ::fdopendir(readable.get()) : nullptr);
  if (!all) return names;
  (void)readable.release();  // the stream owns it now
  while (const dirent* const one = ::readdir(all.get()))
    if (const std::string name = one->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

void sweep_half_written(int folder, int depth) {
  for (const auto& name : names_in(folder)) {
    if (depth < kDeepest)
      if (const Fd below(::openat(folder, name.c_str(), kFolderFlags)); below) {
        sweep_half_written(below.get(), depth + 1);
        continue;
      }
    if (!name.starts_with('.') || name.find(kHalfWritten) == std::string::npos) continue;
    const Fd file(::openat(folder, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name.c_str(), 0);
  }
}

/// Makes a rename durable; without it a crash can restore the old name.
void sync_open_folder(int folder) {
  const Fd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (readable) ::fsync(readable.get());
}

}  // namespace

Result<Fd> Folder::descend(Fd at, const fs::path& seen, const fs::path& names, Missing missing) {
  fs::path path = seen;
  for (const auto& part : names) {
    const std::string name = part.string();
    if (name.empty() || name == ".") continue;
    path /= part;
    if (name == ".." || part.is_absolute())
      return invalid_argument(fmt::format("{} leads up", path.string()));
    Fd next(::openat(at.get(), name.c_str(), kFolderFlags));
    if (!next && errno == ENOENT && missing == Missing::made) {
      if (::mkdirat(at.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return beneath_error("create", at.get(), name, path);
      next.reset(::openat(at.get(), name.c_str(), kFolderFlags));
    }
    if (!next) return beneath_error("open", at.get(), name, path);
    at = std::move(next);
  }
  return at;
}

Result<Folder> Folder::open(const fs::path& path, Missing missing) {
  if (!path.is_absolute()) return invalid_argument(path.string() + " is not an absolute path");
  Fd top(::open("/", kFolderFlags));
  if (!top) return unavailable("cannot open /");
  auto fd = descend(std::move(top), "/", path.relative_path(), missing);
  if (!fd) return fd.error();
  return Folder(*std::move(fd), path);
}

Result<Folder> Folder::open(const fs::path& path) {
  return open(path, Missing::refused);
}

Result<Folder> Folder::make(const fs::path& path) {
  return open(path, Missing::made);
}

Result<Folder::Place> Folder::place_of(const fs::path& name, Missing missing) const {
  const std::string last = name.filename().string();
  if (name.is_absolute() || last.empty() || last == "." || last == "..")
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("\"{}\" does not name a file beneath {}", name.string(), path_.string()), ""};
  Fd own(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!own) return unavailable("too many open files");
  auto folder = descend(std::move(own), path_, name.parent_path(), missing);
  if (!folder) return folder.error();
  return Place{*std::move(folder), last};
}

Result<std::string> Folder::read(const fs::path& name, std::size_t limit) const {
  auto place = place_of(name, Missing::refused);
  if (!place) return place.error();
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const Fd file(::openat(place->folder.get(), place->name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return beneath_error("read", place->folder.get(), place->name, path_ / name);
  return read_open_file(file.get(), path_ / name, limit);
}

Status Folder::write(const fs::path& name, std::string_view bytes) const {
  auto place = place_of(name, Missing::made);
  if (!place) return place.error();
  const int folder = place->folder.get();
  std::string temporary;
  const Fd file = make_temporary(folder, place->name, temporary);
  if (!file) return beneath_error("write", folder, temporary, path_ / name);
  Status status = write_open_file(file.get(), bytes, path_ / name);
  if (status && ::renameat(folder, temporary.c_str(), folder, place->name.c_str()) != 0)
    status = beneath_error("replace", folder, place->name, path_ / name);
  if (!status) {
    ::unlinkat(folder, temporary.c_str(), 0);
    return status;
  }
  sync_open_folder(folder);
  return {};
}

void Folder::remove_half_written() const {
  sweep_half_written(fd_.get(), 0);
}

Status Folder::remove(const fs::path& name) const {
  const auto place = place_of(name, Missing::refused);
  if (!place) return place.error().code == ErrorCode::not_found ? Status{} : place.error();
  if (::unlinkat(place->folder.get(), place->name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return beneath_error("remove", place->folder.get(), place->name, path_ / name);
}

Status Folder::move(const fs::path& from, const fs::path& to) const {
  const auto source = place_of(from, Missing::refused);
  if (!source) return source.error();
  const auto target = place_of(to, Missing::made);
  if (!target) return target.error();
  if (::renameat2(source->folder.get(), source->name.c_str(), target->folder.get(),
                  target->name.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  return beneath_error("move", source->folder.get(), source->name, path_ / from);
}

Status make_private_folder(const fs::path& path) {
  std::error_code failed;
  const auto folder = fs::absolute(path, failed).lexically_normal();
  const auto refused = [&](const std::string& why, const std::string& way) {
    return Error{ErrorCode::not_permitted,
                 fmt::format("the state folder {} {}", path.string(), why),
                 way + " Or choose another folder with --state-dir."};
  };
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), failed);
  if (!failed && ::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    failed = {errno, std::generic_category()};
  if (failed)
    return unavailable(fmt::format("cannot create {}: {}", path.string(), failed.message()),
                       "Set --state-dir to a folder that this user can write to.");
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!fd && is_link(AT_FDCWD, folder.string()))
    return refused("is a symbolic link, which its owner could point elsewhere",
                   "Name the folder that it leads to.");
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return refused(fmt::format("cannot be opened: {}", std::strerror(errno)),
                   "Make it a folder of your own.");
  if (info.st_uid != ::geteuid())
    return refused(
        fmt::format("belongs to user {}, but the server runs as user {}", info.st_uid, ::geteuid()),
        "Run the server as the folder's owner.");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused(fmt::format("can be written by others (mode {:o}), who may have put files there",
                               info.st_mode & 07777U),
                   fmt::format("If its contents are yours: chmod 700 {}.", path.string()));
  // It holds the key of the ledger; others who could read it so far lose that.
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::fchmod(fd.get(), S_IRWXU) != 0)
    return refused(fmt::format("cannot be closed to others: {}", std::strerror(errno)), "");
  return {};
}

}  // namespace ratchet
