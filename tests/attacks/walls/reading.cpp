// Other people's files and what is known about them.

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

bool holds_secret(int file) {
  std::array<char, 64> text{};
  const auto got = file < 0 ? -1 : ::read(file, text.data(), kSecret.size());
  if (file >= 0) ::close(file);
  return got > 0 && std::string_view(text.data(), static_cast<std::size_t>(got)) == kSecret;
}

bool opens(const std::string& path) {
  return holds_secret(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::string of_process(const Target& target, const std::string& name) {
  return "/proc/" + std::to_string(target.process) + "/" + name;
}

bool reads(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char first = 0;
  const bool got = file >= 0 && ::read(file, &first, 1) == 1;
  if (file >= 0) ::close(file);
  return got;
}

/// Whether a folder can be listed and has this entry.
bool lists(const char* path, std::string_view name) {
  DIR* folder = ::opendir(path);
  if (!folder) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(folder)) found = found || name == entry->d_name;
  ::closedir(folder);
  return found;
}

struct Handle {
  unsigned bytes = 64;
  int type = 0;
  std::array<unsigned char, 64> value{};
};

constexpr std::array kProbes{
    Probe{"read_open", "open", kLandlock | kMounts,
          [](const Prey&, const Target& t) { return opens(t.secret.data()); }},
    Probe{"read_openat2", "openat2", kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            const open_how how{.flags = O_RDONLY, .mode = 0, .resolve = 0};
            return holds_secret(static_cast<int>(
                ::syscall(SYS_openat2, AT_FDCWD, t.secret.data(), &how, sizeof how)));
          }},
    Probe{"read_reopen", "an O_PATH descriptor opened again through /proc/self/fd",
          kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            const int file = ::open(t.secret.data(), O_PATH | O_CLOEXEC);
            if (file < 0) return false;
            const bool got = opens("/proc/self/fd/" + std::to_string(file));
            ::close(file);
            return got;
          }},
    Probe{"read_shadow", "the passwords of the machine", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return reads("/etc/shadow"); }, kRoot},
    Probe{"read_list", "a list of another's folder", kLandlock | kMounts,
          [](const Prey&, const Target& t) { return lists(t.folder.data(), "secret"); }},
    Probe{"read_chdir", "chdir into another's folder, then a relative path", kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            const int here = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
            const bool got = ::chdir(t.folder.data()) == 0 && opens("secret");
            const int kept = errno;
            (void)!::fchdir(here);
            ::close(here);
            errno = kept;
            return got;
          }},
    Probe{"read_process_root", "/proc/<pid>/root", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return opens(of_process(t, "root") + t.secret.data());
          }},
    Probe{"read_process_folder", "/proc/<pid>/cwd", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return opens(of_process(t, "cwd/secret")); }},
    Probe{"read_process_file", "/proc/<pid>/fd", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return opens(of_process(t, "fd/" + std::to_string(t.file)));
          }},
    Probe{"read_process_environment", "/proc/<pid>/environ", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return reads(of_process(t, "environ")); }},
    Probe{"read_process_map", "/proc/<pid>/maps", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return reads(of_process(t, "maps")); }},
    Probe{"read_process_command", "/proc/<pid>/cmdline", kLandlock | kMounts,
          [](const Prey&, const Target& t) { return reads(of_process(t, "cmdline")); }},
    Probe{"read_process_list", "a list of all processes", kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            return lists("/proc", std::to_string(t.process).c_str());
          }},
    Probe{"read_link", "a symbolic link in the own folder", kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            ::unlink("link");
            return ::symlink(t.secret.data(), "link") == 0 && opens("link");
          }},
    Probe{"read_hard_link", "a hard link in the own folder", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            ::unlink("hard");
            return ::link(t.secret.data(), "hard") == 0 && opens("hard");
          }},
    Probe{"read_linkat", "a hard link through /proc/self/fd", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int file = ::open(t.secret.data(), O_PATH | O_CLOEXEC);
            if (file < 0) return false;
            const auto name = "/proc/self/fd/" + std::to_string(file);
            const bool got =
                ::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, "hard2", AT_SYMLINK_FOLLOW) == 0 &&
                opens("hard2");
            ::close(file);
            return got;
          }},
    Probe{"read_handle", "open_by_handle_at", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            Handle handle;
            int mount = 0;
            if (::syscall(SYS_name_to_handle_at, AT_FDCWD, t.secret.data(), &handle, &mount, 0) !=
                0)
              return false;
            // Any folder of the same file system will do.
            const int root = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            return holds_secret(static_cast<int>(
                ::syscall(SYS_open_by_handle_at, root, &handle, O_RDONLY | O_CLOEXEC)));
          },
          kRoot},
    Probe{"read_handle_name", "name_to_handle_at: the inode of another's file", kSeccomp | kMounts,
          [](const Prey&, const Target& t) {
            Handle handle;
            int mount = 0;
            return ::syscall(SYS_name_to_handle_at, AT_FDCWD, t.secret.data(), &handle, &mount,
                             0) == 0;
          }},
    Probe{"read_state", "stat: size and times of another's file", kMounts,
          [](const Prey&, const Target& t) {
            struct stat state{};
            return ::stat(t.secret.data(), &state) == 0;
          }},
    Probe{"read_link_text", "readlink of another's link", kMounts,
          [](const Prey&, const Target& t) {
            const auto link = std::string(t.folder.data()) + "/link";
            std::array<char, 128> text{};
            return ::readlink(link.c_str(), text.data(), text.size()) > 0;
          }},
    Probe{"read_watch", "inotify on another's folder", kMounts,
          [](const Prey&, const Target& t) {
            const int watch = ::inotify_init1(IN_CLOEXEC);
            if (watch < 0) return false;
            const bool got = ::inotify_add_watch(watch, t.folder.data(), IN_ALL_EVENTS) >= 0;
            const int kept = errno;
            ::close(watch);
            errno = kept;
            return got;
          }},
    Probe{"read_notify", "dnotify on another's folder", kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            const int folder = ::open(t.folder.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            const bool got = folder >= 0 && ::fcntl(folder, F_NOTIFY, DN_MODIFY) == 0;
            if (folder >= 0) ::close(folder);
            return got;
          }},
    Probe{"read_fanotify", "fanotify on another's folder", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int group = static_cast<int>(::syscall(SYS_fanotify_init, 0, O_RDONLY));
            if (group < 0) return false;
            const bool got = ::syscall(SYS_fanotify_mark, group, 1 /* add */, 2UL /* modify */,
                                       AT_FDCWD, t.folder.data()) == 0;
            ::close(group);
            return got;
          },
          kRoot},
};

}  // namespace

Family reading() {
  return {"reading files", kProbes, 2};
}

}  // namespace ratchet::walls
