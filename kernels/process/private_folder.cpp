#include "kernels/process/private_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace ratchet {
namespace {

constexpr unsigned kNobody = 65534;  // the overflow user of every Linux; see worker/sandbox.cpp

}  // namespace

Result<PrivateFolder> PrivateFolder::make_in(const std::filesystem::path& parent) {
  std::string name = (parent / "ratchet-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot create the folder {}: {}", name, std::strerror(errno)),
                 "Make its parent folder writable."};
  return PrivateFolder(name);
}

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  auto folder = make_in(failed ? std::filesystem::path("/tmp") : parent);
  if (!folder)
    return Error{folder.error().code, folder.error().message, "Set TMPDIR to a writable folder."};
  if (::geteuid() == 0) (void)!::chown(folder->path().c_str(), kNobody, kNobody);
  return folder;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // a worker may have made it hard to remove; it is a temporary folder
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ratchet
