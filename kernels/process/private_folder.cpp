#include "kernels/process/private_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace ratchet {
namespace {

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

}  // namespace

Result<PrivateFolder> PrivateFolder::make_in(const std::filesystem::path& parent) {
  std::string name = (parent / "ratchet-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot create the folder {}: {}", name, std::strerror(errno)),
                 "Make its parent folder writable."};
  give_away(name);
  return PrivateFolder(name);
}

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  auto folder = make_in(failed ? std::filesystem::path("/tmp") : parent);
  if (!folder)
    return Error{folder.error().code, folder.error().message, "Set TMPDIR to a writable folder."};
  return folder;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // a worker may have made it hard to remove; it is a temporary folder
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ratchet
