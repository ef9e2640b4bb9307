#include "kernels/confine/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "kernels/confine/test_switch.h"
#include "server/core/fd.h"

namespace ratchet::confine {
namespace {

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kFirstVersion = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1U;

// Missing in older headers.
constexpr std::uint64_t kTruncate = 1ULL << 14U;           // version 3
constexpr std::uint64_t kDeviceControl = 1ULL << 15U;      // version 5
constexpr std::uint64_t kBindAndConnect = 1ULL | 2ULL;     // version 4: TCP
constexpr std::uint64_t kSocketsAndSignals = 1ULL | 2ULL;  // version 6: scopes

/// landlock_ruleset_attr of the newest version. Older kernels take the fields that they know.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

/// Rights that this kernel's Landlock supports; it rejects requests for others.
std::uint64_t rights_of(long version) {
  std::uint64_t rights = kFirstVersion;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

std::size_t size_of_attributes(long version) {
  if (version >= 6) return sizeof(RulesetAttributes);
  return version >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

/// False if an existing path could not be allowed.
bool allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat state{};
  if (!file || ::fstat(file.get(), &state) != 0) return true;
  if (!S_ISDIR(state.st_mode))
    rights &= kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;
  const landlock_path_beneath_attr rule{rights, file.get()};
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

Outcome failed() {
  return {false, std::string("no Landlock (") + std::strerror(errno) + ")"};
}

}  // namespace

long landlock_version() {
  if (taken_out("landlock")) return 0;
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 1 ? 0 : version;
}

Outcome restrict_files(const FileAccess& access, bool isolated) {
  const long version = landlock_version();
  if (version == 0) return {false, "no Landlock (kernel)"};
  RulesetAttributes attributes{.handled_access_fs = rights_of(version)};
  if (isolated && version >= 4) attributes.handled_access_net = kBindAndConnect;
  if (isolated && version >= 6) attributes.scoped = kSocketsAndSignals;
  const Fd ruleset(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, size_of_attributes(version), 0)));
  if (!ruleset) return failed();
  const std::uint64_t handled = attributes.handled_access_fs;
  for (const auto& path : access.readable)
    if (!allow(ruleset.get(), path, kRead & handled)) return failed();
  for (const auto& path : access.writable)
    if (!allow(ruleset.get(), path, handled)) return failed();
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) return failed();
  return {true, "Landlock " + std::to_string(version)};
}

}  // namespace ratchet::confine
