// Memory that other processes could find, and more of everything than a kernel may use.

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr std::int64_t kPiece = std::int64_t{16} << 20U;
constexpr long kMemfdSecret = 447;

/// What opening returned, closed again.
bool opened(long file) {
  if (file >= 0) ::close(static_cast<int>(file));
  return file >= 0;
}

bool fills(int file, std::int64_t bytes) {
  const bool filled = file >= 0 && ::fallocate(file, 0, 0, bytes) == 0;
  return filled;
}

/// Descriptors, all closed at the end.
class Files {
 public:
  explicit Files(std::size_t most) : files_(most, -1) {}
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() {
    const int kept = errno;
    for (const int file : files_)
      if (file >= 0) ::close(file);
    errno = kept;
  }
  bool add(long file) {
    if (file < 0 || count_ == files_.size()) return false;
    files_[count_++] = static_cast<int>(file);
    return true;
  }

 private:
  std::vector<int> files_;
  std::size_t count_ = 0;
};

/// Too much in memory files of `kPiece` each; `open` makes one.
template <class Open>
bool fills_pieces(const Prey& prey, const Open& open) {
  const auto pieces = static_cast<std::size_t>(prey.memory / kPiece);
  Files files(pieces);
  for (std::size_t i = 0; i < pieces; ++i) {
    const int file = static_cast<int>(open(i));
    if (!files.add(file) || !fills(file, kPiece)) return false;
  }
  wait_for_watch(prey);
  return true;
}

void raise(__rlimit_resource resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(resource, &limit);
}

constexpr std::array kShared{
    Probe{"shared_segment", "shmget", kSeccomp | kMounts,
          [](const Prey& prey, const Target&) {
            const int made = ::shmget(prey.key, 4096, IPC_CREAT | 0600);
            return made >= 0;
          },
          kSeen},
    Probe{"shared_semaphores", "semget", kSeccomp | kMounts,
          [](const Prey& prey, const Target&) {
            const int made = ::semget(prey.key, 1, IPC_CREAT | 0600);
            return made >= 0;
          },
          kSeen},
    Probe{"shared_messages", "msgget", kSeccomp | kMounts,
          [](const Prey& prey, const Target&) {
            const int made = ::msgget(prey.key, IPC_CREAT | 0600);
            return made >= 0;
          },
          kSeen},
    Probe{"shared_list", "shmctl(SHM_INFO): whose segments there are", kSeccomp,
          [](const Prey&, const Target&) {
            shm_info info{};
            return ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info)) >= 0;
          }},
    Probe{"shared_queue", "mq_open", kSeccomp | kMounts | kLimits,
          [](const Prey& prey, const Target&) {
            const long made =
                ::syscall(SYS_mq_open, prey.mark.data(), O_RDWR | O_CREAT, 0600, nullptr);
            return opened(made);
          },
          kSeen},
    Probe{"shared_memory", "shm_open", kLandlock | kMounts,
          [](const Prey& prey, const Target&) {
            const int made =
                ::shm_open(("/" + std::string(prey.mark.data())).c_str(), O_RDWR | O_CREAT, 0600);
            return opened(made);
          },
          kSeen},
};

constexpr std::array kAmounts{
    Probe{"much_mapped", "private memory", kServer,
          [](const Prey& prey, const Target&) {
            void* memory =
                ::mmap(nullptr, static_cast<std::size_t>(prey.memory), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            if (memory == MAP_FAILED) return false;
            wait_for_watch(prey);
            ::munmap(memory, static_cast<std::size_t>(prey.memory));
            return true;
          }},
    Probe{"much_mapped_shared", "shared memory, in many mappings", kServer,
          [](const Prey& prey, const Target&) {
            for (std::int64_t all = 0; all < prey.memory; all += kPiece)
              if (::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
                return false;
            wait_for_watch(prey);
            return true;
          }},
    Probe{"much_in_memory_files", "memfd_create, never mapped", kSeccomp | kServer,
          [](const Prey& prey, const Target&) {
            return fills_pieces(prey,
                                [](std::size_t) { return ::memfd_create("walls", MFD_CLOEXEC); });
          }},
    Probe{"much_in_shared_memory", "files in /dev/shm", kLandlock | kMounts | kServer,
          [](const Prey& prey, const Target&) {
            return fills_pieces(prey, [](std::size_t) {
              return ::open("/dev/shm", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
            });
          }},
    Probe{"much_in_pipes", "full pipes", kUser,
          [](const Prey& prey, const Target&) {
            const auto pipes = static_cast<std::size_t>(prey.memory >> 20U) / 8;
            Files files(2 * pipes);
            const std::vector<char> full(std::size_t{1} << 20U);
            for (std::size_t i = 0; i < pipes; ++i) {
              std::array<int, 2> ends{};
              if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return false;
              files.add(ends[0]);
              files.add(ends[1]);
              if (::fcntl(ends[1], F_SETPIPE_SZ, full.size()) < 0) return false;
              if (::write(ends[1], full.data(), full.size()) < 0) return false;
            }
            return true;
          },
          kRoot},
    Probe{"much_secret_memory", "memfd_secret", kSeccomp,
          [](const Prey&, const Target&) { return opened(::syscall(kMemfdSecret, 0)); }},
    Probe{"much_locked", "mlock", kUser,
          [](const Prey&, const Target&) {
            constexpr std::size_t bytes = std::size_t{64} << 20U;
            void* memory =
                ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) return false;
            const bool locked = ::mlock(memory, bytes) == 0;
            const int kept = errno;
            ::munmap(memory, bytes);
            errno = kept;
            return locked;
          },
          kRoot},
    Probe{"much_open", "descriptors", kLimits,
          [](const Prey& prey, const Target&) {
            raise(RLIMIT_NOFILE);
            Files files(static_cast<std::size_t>(prey.count));
            for (int i = 0; i < prey.count; ++i)
              if (!files.add(::fcntl(1, F_DUPFD_CLOEXEC, 0))) return false;
            return true;
          }},
    Probe{"much_on_disk", "many files, each below the limit", kServer,
          [](const Prey& prey, const Target&) {
            constexpr std::int64_t each = std::int64_t{64} << 20U;
            for (std::int64_t i = 0; i * each < prey.disk; ++i) {
              const auto name = "part" + std::to_string(i);
              const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
              const bool filled = fills(file, each);
              if (file >= 0) ::close(file);
              if (!filled) return false;
            }
            wait_for_watch(prey);
            return true;
          }},
    Probe{"much_on_disk_deleted", "deleted files that stay open", 0,
          [](const Prey& prey, const Target&) {
            constexpr std::int64_t each = std::int64_t{64} << 20U;
            Files files(static_cast<std::size_t>(prey.disk / each) + 1);
            for (std::int64_t i = 0; i * each < prey.disk; ++i) {
              const int file = ::open("part", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
              ::unlink("part");
              if (!files.add(file) || !fills(file, each)) return false;
            }
            wait_for_watch(prey);
            return true;
          },
          kPlain, 1,
          "not counted; descriptors alone hold 512 files of 256 MiB, 128 GiB a process (1,024 "
          "where it may start programs, 4,096 on a GPU), and what is mapped stays, too: in effect "
          "the disk is the bound; gone with the process"},
    Probe{"much_in_one_file", "one file above the limit", kServer,
          [](const Prey&, const Target&) {
            ::signal(SIGXFSZ, SIG_IGN);
            const int file = ::open("large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            const bool done = file >= 0 && ::ftruncate(file, std::int64_t{1} << 40U) == 0;
            const int kept = errno;
            if (file >= 0) ::close(file);
            ::unlink("large");
            errno = kept;
            return done;
          }},
    Probe{"much_printed", "output", kServer,
          [](const Prey&, const Target&) {
            const std::vector<char> line(std::size_t{1} << 20U, 'x');
            for (int i = 0; i < 64; ++i)
              if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return false;
            return true;
          }},
    Probe{"much_dumped", "a core dump of the process", kLimits,
          [](const Prey&, const Target&) {
            raise(RLIMIT_CORE);
            rlimit limit{};
            ::getrlimit(RLIMIT_CORE, &limit);
            return limit.rlim_cur > 0;
          }},
    Probe{"much_timed", "timers", kLimits,
          [](const Prey& prey, const Target&) {
            raise(RLIMIT_SIGPENDING);
            for (int i = 0; i < 16 * prey.count; ++i) {
              int timer = 0;
              if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, nullptr, &timer) != 0) return false;
            }
            return true;
          }},
};

}  // namespace

Family shared_memory() {
  return {"shared memory", kShared};
}

Family limits() {
  return {"amounts", kAmounts};
}

}  // namespace ratchet::walls
