// Device nodes, the terminal, and files of the kernel under /proc and /sys.

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

bool opens(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  const int kept = errno;
  if (file >= 0) ::close(file);
  errno = kept;
  return file >= 0;
}

/// Opens a file of the kernel for writing and gives it the content that it has.
bool writes_back(const char* path) {
  std::array<char, 4096> text{};
  const int source = ::open(path, O_RDONLY | O_CLOEXEC);
  const auto size = source < 0 ? -1 : ::read(source, text.data(), text.size());
  if (source >= 0) ::close(source);
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && size > 0 && ::write(file, text.data(), static_cast<std::size_t>(size)) == size;
  const int kept = errno;
  if (file >= 0) ::close(file);
  errno = kept;
  return written;
}

bool writes(const char* path, std::string_view text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int kept = errno;
  if (file >= 0) ::close(file);
  errno = kept;
  return written;
}

constexpr std::array<const char*, 4> kDisks{"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0"};

/// A constant whose page is read-only.
constexpr const volatile char kConstant[] = "constant";

constexpr std::array kProbes{
    Probe{"device_disk", "the disk", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) {
            for (const char* disk : kDisks)
              if (opens(disk, O_RDONLY)) return true;
            return false;
          },
          kRoot},
    Probe{"device_messages", "/dev/kmsg", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/kmsg", O_RDONLY); }, kRoot},
    Probe{"device_memory", "/dev/mem", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/mem", O_RDONLY); }, kRoot},
    Probe{"device_files", "/dev/fuse", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/fuse", O_RDWR); }},
    Probe{"device_network", "/dev/net/tun", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/net/tun", O_RDWR); }},
    Probe{"device_machine", "/dev/kvm", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/kvm", O_RDWR); }, kRoot},
    Probe{"device_loop", "/dev/loop-control", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/loop-control", O_RDWR); }, kRoot},
    Probe{"device_faults", "/dev/userfaultfd", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/userfaultfd", O_RDWR); }, kRoot},
    Probe{"device_latency", "/dev/cpu_dma_latency: another speed of the processor",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/dev/cpu_dma_latency", O_RDWR); }, kRoot},
    Probe{"device_list", "a list of the machine's devices", kLandlock | kMounts,
          [](const Prey&, const Target&) {
            DIR* folder = ::opendir("/dev");
            if (!folder) return false;
            bool found = false;
            while (const dirent* entry = ::readdir(folder))
              found = found || std::string_view(entry->d_name) == "tty";
            ::closedir(folder);
            return found;
          }},
    Probe{"terminal_new", "a new terminal: /dev/ptmx", kLandlock | kMounts,
          [](const Prey&, const Target&) { return opens("/dev/ptmx", O_RDWR); }},
    Probe{"terminal_own", "/dev/tty: text on the user's terminal", kLandlock | kMounts | kServer,
          [](const Prey&, const Target&) { return opens("/dev/tty", O_RDWR); }, kPlain},
    Probe{"terminal_typed", "TIOCSTI: keys typed on the user's terminal",
          kLandlock | kMounts | kServer,
          [](const Prey&, const Target&) {
            const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
            if (terminal < 0) return false;
            const bool typed = ::ioctl(terminal, TIOCSTI, "x") == 0;
            const int kept = errno;
            ::close(terminal);
            errno = kept;
            return typed;
          },
          kPlain},
    Probe{"proc_own_memory", "/proc/self/mem: a write to read-only memory",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) {
            const int file = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
            const bool written =
                file >= 0 && ::pwrite(file, "C", 1, reinterpret_cast<off_t>(&kConstant[0])) == 1;
            const int kept = errno;
            if (file >= 0) ::close(file);
            errno = kept;
            return written && kConstant[0] == 'C';
          }},
    Probe{"proc_core_pattern", "/proc/sys/kernel/core_pattern", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return writes_back("/proc/sys/kernel/core_pattern"); },
          kRoot},
    Probe{"proc_settings", "other settings under /proc/sys", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return writes_back("/proc/sys/vm/swappiness"); }, kRoot},
    Probe{"proc_keys", "/proc/sysrq-trigger", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) { return opens("/proc/sysrq-trigger", O_WRONLY); }, kRoot},
    Probe{"proc_oom_score", "a lower score of its own for the end of memory",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) {
            return writes("/proc/self/oom_score_adj", "-500") &&
                   writes("/proc/self/oom_score_adj", "0");
          },
          kRoot},
    Probe{"proc_kernel_symbols", "/proc/kallsyms: addresses of the kernel", kLandlock | kMounts,
          [](const Prey&, const Target&) {
            std::array<char, 16> text{};
            const int file = ::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
            const auto got = file < 0 ? -1 : ::read(file, text.data(), text.size());
            if (file >= 0) ::close(file);
            return got > 0;
          }},
    Probe{"sys_settings", "settings under /sys", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) {
            return opens("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY);
          },
          kRoot},
    Probe{"sys_groups", "another control group", kLandlock | kMounts | kUser,
          [](const Prey&, const Target&) {
            for (const char* file :
                 {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
                  "/sys/fs/cgroup/memory/cgroup.procs"})
              if (opens(file, O_WRONLY)) return true;
            return false;
          },
          kRoot},
};

}  // namespace

Family devices() {
  return {"devices, /proc and /sys", kProbes};
}

}  // namespace ratchet::walls
