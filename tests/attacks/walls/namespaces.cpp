// New namespaces, in which the process would be root, and changes of what is mounted.

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr std::array<unsigned long, 8> kKinds{CLONE_NEWUSER,   CLONE_NEWNS,  CLONE_NEWPID,
                                              CLONE_NEWNET,    CLONE_NEWIPC, CLONE_NEWUTS,
                                              CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */};

// Newer than the headers of the systems that we support.
constexpr long kMountSetattr = 442;

/// The kind of a variant; those other than a user namespace only come together with one, as an
/// ordinary user would ask for them.
unsigned long kind_of(const Prey& prey) {
  return kKinds.at(static_cast<std::size_t>(prey.variant)) | CLONE_NEWUSER;
}

bool ended(long child) {
  if (child == 0) ::_exit(0);
  if (child < 0) return false;
  ::waitpid(static_cast<pid_t>(child), nullptr, __WALL);
  return true;
}

bool joins(int space) {
  if (space < 0) return false;
  const bool done = ::setns(space, CLONE_NEWUTS) == 0;
  const int kept = errno;
  ::close(space);
  errno = kept;
  return done;
}

bool closes(long file) {
  if (file >= 0) ::close(static_cast<int>(file));
  return file >= 0;
}

constexpr std::array kSpaces{
    Probe{
        "space_unshare", "unshare of each kind", kSeccomp,
        [](const Prey& prey, const Target&) { return ::syscall(SYS_unshare, kind_of(prey)) == 0; },
        kPlain, kKinds.size()},
    Probe{"space_clone", "clone with each kind", kSeccomp,
          [](const Prey& prey, const Target&) {
            // CLONE_NEWTIME is part of the signal's bits: clone3 alone accepts it.
            return ended(
                ::syscall(SYS_clone, kind_of(prey) | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
          },
          kPlain, kKinds.size() - 1},
    Probe{"space_clone3", "clone3 with each kind", kSeccomp,
          [](const Prey& prey, const Target&) {
            clone_args arguments{};
            arguments.flags = kind_of(prey);
            arguments.exit_signal = SIGCHLD;
            return ended(::syscall(SYS_clone3, &arguments, sizeof arguments));
          },
          kPlain, kKinds.size()},
    Probe{"space_join", "setns to a space of another process",
          kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return joins(::open(("/proc/" + std::to_string(t.process) + "/ns/uts").c_str(),
                                O_RDONLY | O_CLOEXEC));
          },
          kRoot},
    Probe{"space_join_process", "setns to a process descriptor", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            return joins(static_cast<int>(::syscall(SYS_pidfd_open, t.process, 0)));
          },
          kRoot},
};

constexpr std::array kMountings{
    Probe{"mount_new", "mount", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target&) {
            const bool done = ::mount("none", ".", "tmpfs", 0, nullptr) == 0;
            if (done) ::umount2(".", MNT_DETACH);
            return done;
          },
          kRoot},
    Probe{"mount_bind", "mount of a folder a second time", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target&) {
            const bool done = ::mount("/etc", ".", nullptr, MS_BIND, nullptr) == 0;
            if (done) ::umount2(".", MNT_DETACH);
            return done;
          },
          kRoot},
    Probe{"mount_again", "mount that changes the flags of the root", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target&) {
            return ::mount(nullptr, "/", nullptr, MS_PRIVATE, nullptr) == 0;
          },
          kRoot},
    Probe{"mount_remove", "umount2", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            // EINVAL: not a mount point.
            return passes(::umount2(".", MNT_DETACH));
          },
          kRoot},
    Probe{"mount_pivot", "pivot_root", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_pivot_root, "/usr", "/usr"));
          },
          kRoot},
    Probe{"mount_chroot", "chroot", kSeccomp | kUser,
          [](const Prey&, const Target&) { return ::chroot("/") == 0; }, kRoot},
    Probe{"mount_open", "fsopen", kSeccomp | kUser,
          [](const Prey&, const Target&) { return closes(::syscall(SYS_fsopen, "tmpfs", 1)); },
          kRoot},
    Probe{"mount_configure", "fsopen, fsconfig and fsmount", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            const long space = ::syscall(SYS_fsopen, "tmpfs", 1);
            if (space < 0) return false;
            const bool done =
                ::syscall(SYS_fsconfig, space, 6 /* create */, nullptr, nullptr, 0) == 0 &&
                closes(::syscall(SYS_fsmount, space, 1, 0));
            ::close(static_cast<int>(space));
            return done;
          },
          kRoot},
    Probe{
        "mount_pick", "fspick", kSeccomp | kUser,
        [](const Prey&, const Target&) { return closes(::syscall(SYS_fspick, AT_FDCWD, "/", 1)); },
        kRoot},
    Probe{"mount_tree", "open_tree that copies", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            return closes(::syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* clone */ | O_CLOEXEC));
          },
          kRoot},
    Probe{"mount_move", "move_mount", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/usr", 0));
          },
          kRoot},
    Probe{"mount_attributes", "mount_setattr", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            const std::array<std::uint64_t, 4> attributes{0, 0, MS_PRIVATE, 0};
            return ::syscall(kMountSetattr, AT_FDCWD, "/", 0, attributes.data(),
                             sizeof attributes) == 0;
          },
          kRoot},
};

}  // namespace

Family namespaces() {
  return {"namespaces", kSpaces, 2};
}

Family mounts() {
  return {"mounts", kMountings};
}

}  // namespace ratchet::walls
