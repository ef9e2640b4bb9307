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

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  std::string name =
      ((failed ? std::filesystem::path("/tmp") : parent) / "ratchet-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    return Error{ErrorCode::unavailable,
                 fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)),
                 "Set TMPDIR to a writable folder."};
  if (::geteuid() == 0) (void)!::chown(name.c_str(), kNobody, kNobody);
  return PrivateFolder(name);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // a worker may have made it hard to remove; it is a temporary folder
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ratchet
