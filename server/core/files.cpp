#include "server/core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "server/core/fd.h"

namespace ratchet {
namespace {

Error system_error(std::string_view what, const std::filesystem::path& path) {
  const int code = errno;
  return {code == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
          fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(code)),
          std::string(hint_for(code))};
}

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Makes a rename durable; without it a crash can restore the old name.
void sync_folder(const std::filesystem::path& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error("read", path);
  return read_open_file(fd.get(), path, limit);
}

Result<std::string> read_open_file(int fd, const std::filesystem::path& path, std::size_t limit) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error("read", path);
  if (!S_ISREG(info.st_mode)) return invalid_argument(path.string() + " is not a regular file");
  if (static_cast<std::size_t>(info.st_size) > limit)
    return Error{ErrorCode::too_large, fmt::format("{} has {} bytes; the limit is {}",
                                                   path.string(), info.st_size, limit)};
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path);
    if (got == 0) break;  // the file shrank while being read
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

std::string_view hint_for(int code) {
  const bool full = code == ENOSPC || code == EDQUOT;
  return full ? "Free some space on that disk; `ratchet gc` removes what can be made again." : "";
}

Status write_unsynced(const std::filesystem::path& path, std::string_view bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return system_error("write", path);
  return write_all(fd.get(), bytes, path);
}

Status write_open_file(int fd, std::string_view bytes, const std::filesystem::path& path) {
  if (auto written = write_all(fd, bytes, path); !written) return written;
  if (::fsync(fd) != 0) return system_error("sync", path);
  return {};
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (failed)
    return unavailable(
        fmt::format("cannot create {}: {}", path.parent_path().string(), failed.message()));
  const std::filesystem::path temporary =
      path.parent_path() /
      fmt::format(".{}.{}.{}", path.filename().string(), ::getpid(), counter++);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return system_error("write", temporary);
  Status status = write_open_file(fd.get(), bytes, path);
  fd.reset();
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = system_error("replace", path);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  sync_folder(path.parent_path().empty() ? "." : path.parent_path());
  return {};
}

}  // namespace ratchet
