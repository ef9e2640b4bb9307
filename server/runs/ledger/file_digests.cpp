#include "server/runs/ledger/file_digests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "server/core/fd.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostKnown = 500'000;  // files: some 90 MB

/// File systems whose times the kernel of this machine sets, and sets at every change.
bool keeps_times(int fd) {
  constexpr std::array<std::uint64_t, 6> kOwn{EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                              BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                              TMPFS_MAGIC,       OVERLAYFS_SUPER_MAGIC};
  struct statfs info{};
  if (::fstatfs(fd, &info) != 0) return false;
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xffffffffU;
  return std::ranges::find(kOwn, type) != kOwn.end();
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<bool> FileDigests::matches(int folder, const std::string& file, const std::string& digest) {
  const auto stamp_of = [](const struct stat& seen) {
    return Stamp{seen.st_size, seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec};
  };
  struct stat info{};
  if (::fstatat(folder, file.c_str(), &info, 0) != 0)
    return Error{ErrorCode::not_found, file + " is missing", ""};
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find({info.st_dev, info.st_ino});
    if (found != known_.end() && found->second.stamp == stamp_of(info))
      return found->second.digest == digest;
  }
  // The path may lead elsewhere by now, so what is kept is said of the file that was opened.
  const std::int64_t begun = now_ns();
  const Fd fd(::openat(folder, file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat before{};
  struct stat after{};
  if (!fd || ::fstat(fd.get(), &before) != 0)
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot read {}: {}", file, std::strerror(errno)), ""};
  const auto bytes = read_open_file(fd.get(), file);
  if (!bytes) return bytes.error();
  std::string seen = sha256_hex(*bytes);
  const bool same = seen == digest;
  const Stamp stamp = stamp_of(before);
  const bool settled = ::fstat(fd.get(), &after) == 0 && stamp_of(after) == stamp &&
                       stamp.changed_s * 1'000'000'000 + stamp.changed_ns + settled_ns_ < begun &&
                       keeps_times(fd.get());
  const std::scoped_lock lock(mutex_);
  ++read_;
  if (known_.size() >= kMostKnown) known_.clear();
  if (settled) known_[{before.st_dev, before.st_ino}] = {stamp, std::move(seen)};
  return same;
}

std::int64_t FileDigests::files_read() const {
  const std::scoped_lock lock(mutex_);
  return read_;
}

}  // namespace ratchet
