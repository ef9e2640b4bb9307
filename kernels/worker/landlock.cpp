#include "kernels/worker/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "server/core/fd.h"

namespace ratchet::worker {
namespace {

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kTruncate = 1ULL << 14U;  // missing in older headers
constexpr std::uint64_t kFirstVersion = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1U;

/// Rights that this kernel's Landlock supports; it rejects requests for others.
std::uint64_t rights_of(long version) {
  std::uint64_t rights = kFirstVersion;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rights |= kTruncate;
  return rights;
}

void allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat state{};
  if (!file || ::fstat(file.get(), &state) != 0) return;
  if (!S_ISDIR(state.st_mode)) rights &= kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  const landlock_path_beneath_attr rule{rights, file.get()};
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

}  // namespace

std::string restrict_files(const FileAccess& access) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return "no Landlock (kernel)";
  const std::uint64_t handled = rights_of(version);
  // The size of the first version, so that kernels without the later fields accept it.
  struct {
    std::uint64_t handled_access_fs;
  } attributes{handled};
  const Fd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) return std::string("no Landlock (") + std::strerror(errno) + ")";
  for (const auto& path : access.readable) allow(ruleset.get(), path, kRead & handled);
  for (const auto& path : access.writable) allow(ruleset.get(), path, handled);
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return std::string("no Landlock (") + std::strerror(errno) + ")";
  return "";
}

}  // namespace ratchet::worker
