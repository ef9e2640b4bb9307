// What Landlock does not cover: modes, owners, times and extended attributes of files.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

// Newer than the headers of the systems that we support; the same on all architectures.
constexpr long kFchmodat2 = 452;
constexpr long kSetxattrat = 463;
constexpr long kGetxattrat = 464;
constexpr long kListxattrat = 465;
constexpr long kRemovexattrat = 466;
constexpr long kFileSetattr = 469;

constexpr const char* kAttribute = "user.walls";
constexpr const char* kPresent = "user.present";  // the harness has set it

/// `action` on a descriptor of the file that grants no access to its content.
template <class Action>
bool on_path(const Target& target, const Action& action) {
  const int file = ::open(target.secret.data(), O_PATH | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = action(file);
  const int kept = errno;
  ::close(file);
  errno = kept;
  return done;
}

template <class Action>
bool on_open(const Target& target, const Action& action) {
  const int file = ::open(target.secret.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = action(file);
  const int kept = errno;
  ::close(file);
  errno = kept;
  return done;
}

std::string linked(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

constexpr std::array kTimes{timespec{1000, 0}, timespec{1000, 0}};
constexpr std::array kOldTimes{timeval{1000, 0}, timeval{1000, 0}};

/// The arguments of setxattrat and getxattrat.
struct Value {
  std::uint64_t value = 0;
  std::uint32_t size = 0;
  std::uint32_t flags = 0;
};

struct FileAttributes {  // struct file_attr of Linux 6.17
  std::uint64_t flags = FS_XFLAG_NODUMP;
  std::uint32_t extent = 0, extents = 0, project = 0, cow = 0;
};

constexpr std::array kModes{
    Probe{"meta_chmod", "chmod", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::chmod(t.secret.data(), 0666) == 0; }, kSeen},
    Probe{"meta_fchmod", "fchmod", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) { return ::fchmod(file, 0666) == 0; });
          },
          kSeen},
    Probe{"meta_fchmodat", "fchmodat", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_fchmodat, AT_FDCWD, t.secret.data(), 0666) == 0;
          },
          kSeen},
    Probe{"meta_fchmodat2", "fchmodat2 without a path", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_path(t, [](int file) {
              return ::syscall(kFchmodat2, file, "", 0666, AT_EMPTY_PATH) == 0;
            });
          },
          kSeen},
    Probe{"meta_chmod_by_number", "chmod of /proc/self/fd", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_path(t, [](int file) { return ::chmod(linked(file).c_str(), 0666) == 0; });
          },
          kSeen},
    Probe{"meta_chown", "chown", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::chown(t.secret.data(), static_cast<uid_t>(-1), ::getegid()) == 0;
          },
          kSeen},
    Probe{"meta_lchown", "lchown", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::lchown(t.secret.data(), static_cast<uid_t>(-1), ::getegid()) == 0;
          },
          kSeen},
    Probe{"meta_fchown", "fchown", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) {
              return ::fchown(file, static_cast<uid_t>(-1), ::getegid()) == 0;
            });
          },
          kSeen},
    Probe{"meta_fchownat", "fchownat without a path", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_path(t, [](int file) {
              return ::fchownat(file, "", static_cast<uid_t>(-1), ::getegid(), AT_EMPTY_PATH) == 0;
            });
          },
          kSeen},
    Probe{"meta_utime", "utime", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const std::array<long, 2> times{1000, 1000};
            return ::syscall(SYS_utime, t.secret.data(), times.data()) == 0;
          },
          kSeen},
    Probe{"meta_utimes", "utimes", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_utimes, t.secret.data(), kOldTimes.data()) == 0;
          },
          kSeen},
    Probe{"meta_futimesat", "futimesat", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_futimesat, AT_FDCWD, t.secret.data(), kOldTimes.data()) == 0;
          },
          kSeen},
    Probe{"meta_utimensat", "utimensat", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::utimensat(AT_FDCWD, t.secret.data(), kTimes.data(), 0) == 0;
          },
          kSeen},
    Probe{"meta_utimensat_by_number", "utimensat of /proc/self/fd", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_path(t, [](int file) {
              return ::utimensat(AT_FDCWD, linked(file).c_str(), kTimes.data(), 0) == 0;
            });
          },
          kSeen},
    Probe{"meta_futimens", "futimens", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) { return ::futimens(file, kTimes.data()) == 0; });
          },
          kSeen},
    Probe{"meta_flags", "ioctl FS_IOC_SETFLAGS", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) {
              int flags = 0;
              if (::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return false;
              flags |= FS_NODUMP_FL;
              return ::ioctl(file, FS_IOC_SETFLAGS, &flags) == 0;
            });
          },
          kSeen},
    Probe{"meta_attributes", "file_setattr", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const FileAttributes attributes;
            return ::syscall(kFileSetattr, AT_FDCWD, t.secret.data(), &attributes,
                             sizeof attributes, 0) == 0;
          },
          kSeen},
};

constexpr std::array kAttributes{
    Probe{"xattr_set", "setxattr", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::setxattr(t.secret.data(), kAttribute, "x", 1, 0) == 0;
          },
          kSeen},
    Probe{"xattr_lset", "lsetxattr", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::lsetxattr(t.secret.data(), kAttribute, "x", 1, 0) == 0;
          },
          kSeen},
    Probe{"xattr_fset", "fsetxattr", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t,
                           [](int file) { return ::fsetxattr(file, kAttribute, "x", 1, 0) == 0; });
          },
          kSeen},
    Probe{"xattr_setat", "setxattrat", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const Value value{reinterpret_cast<std::uint64_t>("x"), 1, 0};
            return ::syscall(kSetxattrat, AT_FDCWD, t.secret.data(), 0, kAttribute, &value,
                             sizeof value) == 0;
          },
          kSeen},
    Probe{"xattr_get", "getxattr", kSeccomp | kMounts,
          [](const Prey&, const Target& t) {
            char value = 0;
            return ::getxattr(t.secret.data(), kPresent, &value, 1) == 1;
          }},
    Probe{"xattr_lget", "lgetxattr", kSeccomp | kMounts,
          [](const Prey&, const Target& t) {
            char value = 0;
            return ::lgetxattr(t.secret.data(), kPresent, &value, 1) == 1;
          }},
    Probe{"xattr_fget", "fgetxattr", kSeccomp | kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) {
              char value = 0;
              return ::fgetxattr(file, kPresent, &value, 1) == 1;
            });
          }},
    Probe{"xattr_getat", "getxattrat", kSeccomp | kMounts,
          [](const Prey&, const Target& t) {
            char byte = 0;
            const Value value{reinterpret_cast<std::uint64_t>(&byte), 1, 0};
            return ::syscall(kGetxattrat, AT_FDCWD, t.secret.data(), 0, kPresent, &value,
                             sizeof value) == 1;
          }},
    Probe{
        "xattr_list", "listxattr", kSeccomp | kMounts,
        [](const Prey&, const Target& t) { return ::listxattr(t.secret.data(), nullptr, 0) > 0; }},
    Probe{
        "xattr_llist", "llistxattr", kSeccomp | kMounts,
        [](const Prey&, const Target& t) { return ::llistxattr(t.secret.data(), nullptr, 0) > 0; }},
    Probe{"xattr_flist", "flistxattr", kSeccomp | kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) { return ::flistxattr(file, nullptr, 0) > 0; });
          }},
    Probe{"xattr_listat", "listxattrat", kSeccomp | kMounts,
          [](const Prey&, const Target& t) {
            return ::syscall(kListxattrat, AT_FDCWD, t.secret.data(), 0, nullptr, 0) > 0;
          }},
    Probe{
        "xattr_remove", "removexattr", kSeccomp | kMounts | kUser,
        [](const Prey&, const Target& t) { return ::removexattr(t.secret.data(), kPresent) == 0; },
        kSeen},
    Probe{
        "xattr_lremove", "lremovexattr", kSeccomp | kMounts | kUser,
        [](const Prey&, const Target& t) { return ::lremovexattr(t.secret.data(), kPresent) == 0; },
        kSeen},
    Probe{"xattr_fremove", "fremovexattr", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return on_open(t, [](int file) { return ::fremovexattr(file, kPresent) == 0; });
          },
          kSeen},
    Probe{"xattr_removeat", "removexattrat", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(kRemovexattrat, AT_FDCWD, t.secret.data(), 0, kPresent) == 0;
          },
          kSeen},
};

}  // namespace

Family metadata() {
  return {"modes, owners and times", kModes, 2};
}

Family attributes() {
  return {"extended attributes", kAttributes, 2};
}

}  // namespace ratchet::walls
