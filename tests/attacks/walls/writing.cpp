// Other people's folders, and marks that another process could find.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

std::string in(const Target& target, const char* name) {
  return std::string(target.folder.data()) + "/" + name;
}

bool writes(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  const bool written = file >= 0 && ::write(file, "x", 1) == 1;
  if (file >= 0) ::close(file);
  return written;
}

bool marks(const char* folder, const Prey& prey) {
  return writes((std::string(folder) + "/" + prey.mark.data()).c_str(), O_WRONLY | O_CREAT);
}

bool own_file(const char* name) {
  ::unlink(name);
  return writes(name, O_WRONLY | O_CREAT);
}

bool own_setuid(bool set) {
  struct stat state{};
  return set && ::stat("program", &state) == 0 && (state.st_mode & (S_ISUID | S_ISGID)) != 0;
}

constexpr std::array kProbes{
    Probe{"write_overwrite", "open for writing", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return writes(t.secret.data(), O_WRONLY); }, kSeen},
    Probe{"write_append", "open for appending", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return writes(t.secret.data(), O_WRONLY | O_APPEND); },
          kSeen},
    Probe{"write_open_truncate", "O_TRUNC while opening for reading", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int file = ::open(t.secret.data(), O_RDONLY | O_TRUNC | O_CLOEXEC);
            if (file >= 0) ::close(file);
            return file >= 0;
          },
          kSeen},
    Probe{"write_truncate", "truncate", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::truncate(t.secret.data(), 0) == 0; }, kSeen},
    Probe{"write_reopen", "an O_PATH descriptor opened again for writing",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int file = ::open(t.secret.data(), O_PATH | O_CLOEXEC);
            if (file < 0) return false;
            const auto name = "/proc/self/fd/" + std::to_string(file);
            const bool written = writes(name.c_str(), O_WRONLY);
            ::close(file);
            return written;
          },
          kSeen},
    Probe{"write_create", "creat", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return writes(in(t, "planted").c_str(), O_WRONLY | O_CREAT | O_EXCL);
          },
          kSeen},
    Probe{"write_nameless", "O_TMPFILE, then linkat", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int file = ::open(t.folder.data(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
            if (file < 0) return false;
            const auto name = "/proc/self/fd/" + std::to_string(file);
            const bool made = ::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, in(t, "named").c_str(),
                                       AT_SYMLINK_FOLLOW) == 0;
            ::close(file);
            return made;
          },
          kSeen},
    Probe{"write_folder", "mkdir", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::mkdir(in(t, "made").c_str(), 0700) == 0; },
          kSeen},
    Probe{"write_symbolic_link", "symlink", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::symlink("/etc/passwd", in(t, "planted_link").c_str()) == 0;
          },
          kSeen},
    Probe{"write_hard_link", "link of an own file", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return own_file("mine") && ::link("mine", in(t, "planted_hard").c_str()) == 0;
          },
          kSeen},
    Probe{"write_fifo", "mknod of a pipe", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::mknod(in(t, "pipe").c_str(), S_IFIFO | 0600, 0) == 0;
          },
          kSeen},
    Probe{"write_device", "mknod of a disk in the own folder", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            const bool made = ::mknod("disk", S_IFBLK | 0600, makedev(7, 0)) == 0;
            if (made) ::unlink("disk");
            return made;
          },
          kRoot},
    Probe{"write_unlink", "unlink", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::unlink(t.secret.data()) == 0; }, kSeen},
    Probe{"write_remove_folder", "rmdir", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::rmdir(in(t, "empty").c_str()) == 0; }, kSeen},
    Probe{"write_rename", "rename within another's folder", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return ::rename(t.secret.data(), in(t, "renamed").c_str()) == 0;
          },
          kSeen},
    Probe{"write_move_in", "rename of an own file over another's", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return own_file("mine") && ::rename("mine", t.secret.data()) == 0;
          },
          kSeen},
    Probe{"write_move_out", "rename of another's file into the own folder",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return ::rename(t.secret.data(), "taken") == 0; },
          kSeen},
    Probe{"write_exchange", "renameat2 that exchanges", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return own_file("mine") && ::syscall(SYS_renameat2, AT_FDCWD, "mine", AT_FDCWD,
                                                 t.secret.data(), 2 /* exchange */) == 0;
          },
          kSeen},
    Probe{"write_temporary", "a mark in /tmp", kLandlock | kMounts,
          [](const Prey& prey, const Target&) { return marks("/tmp", prey); }, kSeen},
    Probe{"write_lasting", "a mark in /var/tmp", kLandlock | kMounts,
          [](const Prey& prey, const Target&) { return marks("/var/tmp", prey); }, kSeen},
    Probe{"write_shared", "a mark in /dev/shm, as the reference left one for the candidate",
          kLandlock | kMounts,
          [](const Prey& prey, const Target&) { return marks("/dev/shm", prey); }, kSeen},
    Probe{"write_lock", "flock of a file that every process can read", 0,
          [](const Prey&, const Target&) {
            const int file = ::open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);
            const bool locked = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0;
            const int kept = errno;
            if (file >= 0) ::close(file);
            errno = kept;
            return locked;
          },
          kPlain, 1,
          "a lock is seen only by a process that lives at the same time; libraries lock their "
          "caches"},
    Probe{"write_setuid_chmod", "chmod that leaves a setuid program", kSeccomp,
          [](const Prey&, const Target&) {
            return own_setuid(own_file("program") && ::chmod("program", 04755) == 0);
          },
          kSeen},
    Probe{"write_setuid_create", "open that leaves a setuid program", kSeccomp,
          [](const Prey&, const Target&) {
            ::unlink("program");
            const int file = ::open("program", O_WRONLY | O_CREAT | O_CLOEXEC, 04755);
            if (file >= 0) ::close(file);
            return own_setuid(file >= 0);
          },
          kSeen},
};

}  // namespace

Family writing() {
  return {"writing files", kProbes, 2};
}

}  // namespace ratchet::walls
