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
          fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(code)), ""};
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
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return system_error("read", path);
  if (!S_ISREG(info.st_mode)) return invalid_argument(path.string() + " is not a regular file");
  if (static_cast<std::size_t>(info.st_size) > limit)
    return Error{ErrorCode::too_large, fmt::format("{} has {} bytes; the limit is {}",
                                                   path.string(), info.st_size, limit)};
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path);
    if (got == 0) break;  // the file shrank while being read
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
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
  Status status = write_all(fd.get(), bytes, path);
  if (status && ::fsync(fd.get()) != 0) status = system_error("sync", path);
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

Result<std::filesystem::path> inside_roots(const std::filesystem::path& path,
                                           const std::vector<std::filesystem::path>& roots) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  if (failed) return not_found(fmt::format("{}: {}", path.string(), failed.message()));
  std::string names;
  for (const auto& root : roots) {
    const auto real_root = std::filesystem::canonical(root, failed);
    if (failed) continue;
    const auto relative = real.lexically_relative(real_root);
    if (!relative.empty() && *relative.begin() != "..") return real;
    names += (names.empty() ? "" : ", ") + real_root.string();
  }
  return Error{ErrorCode::not_permitted,
               fmt::format("{} is outside the allowed folders ({})", real.string(), names),
               "Give the text instead of the path, or start the server with --root DIR."};
}

}  // namespace ratchet
