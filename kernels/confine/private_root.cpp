#include "kernels/confine/private_root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernels/confine/test_switch.h"

namespace ratchet::confine {
namespace {

namespace fs = std::filesystem;

// The new root is built in a tmpfs over this folder; the old one is then found below kOld.
constexpr const char* kBase = "/tmp";
constexpr const char* kNew = "/new";
constexpr const char* kOld = "/old";

// mount_setattr and its argument are missing in older headers.
constexpr long kMountSetattr = 442;
constexpr std::uint64_t kReadOnly = 1;
constexpr std::uint64_t kNoSetuid = 2;
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};

[[noreturn]] void give_up(const std::string& step) {
  std::fprintf(stderr, "private root: %s: %s\n", step.c_str(), std::strerror(errno));
  ::_exit(70);
}

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// The user and group of this process, unchanged, in a new user namespace.
bool enter_user_namespace(int with) {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | with) != 0) return false;
  return write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", user + " " + user + " 1") &&
         write_text("/proc/self/gid_map", group + " " + group + " 1");
}

bool make_read_only(const std::string& path, bool with_what_is_below) {
  const MountAttributes attributes{.set = kReadOnly | kNoSetuid};
  return ::syscall(kMountSetattr, AT_FDCWD, path.c_str(), with_what_is_below ? AT_RECURSIVE : 0,
                   &attributes, sizeof attributes) == 0;
}

/// A path and the file that it leads to, found while the old root was still in place.
struct Shown {
  fs::path name;
  fs::path real;
};

std::vector<Shown> existing(std::vector<std::string> paths) {
  std::vector<Shown> found;
  for (const auto& path : paths) {
    std::error_code failed;
    auto real = fs::canonical(path, failed);
    if (!failed) found.push_back({fs::path(path).lexically_normal(), std::move(real)});
  }
  std::ranges::sort(found, {}, &Shown::real);  // a folder before what lies inside it
  return found;
}

std::string old_name(const fs::path& path) {
  return kOld + path.string();
}

std::string new_name(const fs::path& path) {
  return kNew + path.string();
}

/// Where `name` leads in the new root by the links that are already there; its last parts may not
/// exist. The system would follow absolute links from the root of this process instead.
fs::path followed(const fs::path& name) {
  constexpr int kMostLinks = 40;
  std::vector<fs::path> left(name.begin(), name.end());
  std::ranges::reverse(left);
  fs::path reached = "/";
  for (int links = 0; !left.empty();) {
    const auto part = std::move(left.back());
    left.pop_back();
    if (part == "/" || part == "." || part.empty()) continue;
    if (part == "..") {
      reached = reached.parent_path();
      continue;
    }
    std::error_code failed;
    const auto link = fs::read_symlink(new_name(reached / part), failed);
    if (failed || ++links > kMostLinks) {
      reached /= part;
      continue;
    }
    if (link.is_absolute()) reached = "/";
    std::vector<fs::path> parts(link.begin(), link.end());
    left.insert(left.end(), parts.rbegin(), parts.rend());
  }
  return reached;
}

/// Shows a file of the old root under `name`. What is inside a shown folder is there already,
/// unless it shall be writable.
void bind(const fs::path& real, const fs::path& name, bool writable) {
  const auto source = old_name(real);
  const auto target = new_name(followed(name));
  std::error_code failed;
  const bool seen = fs::exists(target, failed);
  if (seen && !writable) return;
  if (!seen) {
    fs::create_directories(fs::path(target).parent_path(), failed);
    if (fs::is_directory(source, failed))
      fs::create_directory(target, failed);
    else
      std::ofstream{target};
  }
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    give_up("mount " + name.string());
  if (!writable && !make_read_only(target, true)) give_up("read-only " + name.string());
}

/// Shows what paths lead to at its own place, and under the paths themselves where they differ.
void show(const std::vector<Shown>& all, bool writable) {
  for (const auto& one : all) bind(one.real, one.real, writable);
  for (const auto& one : all)
    if (one.name != one.real) bind(one.real, one.name, writable);
}

void link(const std::string& name, const std::string& target) {
  (void)!::symlink(target.c_str(), new_name(name).c_str());
}

/// The symbolic links of the root folder: /bin, /lib and others are such where /usr is merged.
void keep_links() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(kOld, failed))
    if (entry.is_symlink(failed)) {
      const auto target = fs::read_symlink(entry.path(), failed);
      link("/" + entry.path().filename().string(), target.string());
    }
}

void show_this_process() {
  std::error_code failed;
  const auto self = fs::read_symlink(old_name("/proc/self"), failed).string();
  bind("/proc/" + self, "/proc/" + self, false);
  link("/proc/self", self);
  link("/proc/thread-self", self + "/task/" + self);
}

void prepare_devices() {
  std::error_code failed;
  fs::create_directories(new_name("/dev/shm"), failed);
  const std::array<std::pair<const char*, const char*>, 4> links{
      {{"/dev/fd", "/proc/self/fd"},
       {"/dev/stdin", "/proc/self/fd/0"},
       {"/dev/stdout", "/proc/self/fd/1"},
       {"/dev/stderr", "/proc/self/fd/2"}}};
  for (const auto& [name, target] : links) link(name, target);
  // Python's multiprocessing keeps its semaphores there.
  if (::mount("shm", new_name("/dev/shm").c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=64m,mode=1777") != 0)
    give_up("mount /dev/shm");
}

}  // namespace

Outcome enter_private_root(const RootView& view) {
  if (taken_out("root")) return {false, "no private root (taken out)"};
  const auto refused = [](const char* step) {
    return Outcome{false,
                   std::string("no private root (") + step + ": " + std::strerror(errno) + ")"};
  };
  std::error_code failed;
  const fs::path folder = fs::current_path(failed);
  auto shown = view.files.readable;
  if (view.other_processes) shown.emplace_back("/proc");
  const auto readable = existing(std::move(shown));
  const auto writable = existing(view.files.writable);
  const int namespaces = CLONE_NEWNS | CLONE_NEWIPC;
  const bool user = ::geteuid() != 0 || ::unshare(namespaces) != 0;
  if (user && !enter_user_namespace(namespaces)) return refused("namespaces");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refused("private");
  if (::mount("root", kBase, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755") != 0)
    return refused("tmpfs");
  if (::mkdir((std::string(kBase) + kNew).c_str(), 0755) != 0 ||
      ::mkdir((std::string(kBase) + kOld).c_str(), 0755) != 0 ||
      ::syscall(SYS_pivot_root, kBase, (std::string(kBase) + kOld).c_str()) != 0 ||
      ::chdir("/") != 0)
    give_up("first pivot");
  if (::mount("root", kNew, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755") != 0)
    give_up("tmpfs");

  keep_links();
  prepare_devices();
  if (!view.other_processes) show_this_process();
  show(readable, false);
  show(writable, true);

  if (::chdir(kNew) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
      ::umount2(".", MNT_DETACH) != 0)
    give_up("second pivot");
  if (!make_read_only("/", false)) give_up("read-only root");
  if (::chdir(folder.c_str()) != 0 && ::chdir("/") != 0) give_up("working folder");
  return {true, user ? "private root in a user namespace" : "private root"};
}

}  // namespace ratchet::confine
