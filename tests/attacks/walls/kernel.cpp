// Doors of the kernel that a computation never needs, and the state of the whole machine.

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

bool opened(long file) {
  const int kept = errno;
  if (file >= 0) ::close(static_cast<int>(file));
  errno = kept;
  return file >= 0;
}

/// A ring with one request on it, done.
class Ring {
 public:
  Ring() : file_(static_cast<int>(::syscall(SYS_io_uring_setup, 4, &parameters_))) {
    if (file_ < 0) return;
    const auto size = static_cast<std::size_t>(parameters_.sq_off.array) + 64;
    ring_ = map(size, IORING_OFF_SQ_RING);
    results_ = map(static_cast<std::size_t>(parameters_.cq_off.cqes) + 256, IORING_OFF_CQ_RING);
    entries_ = map(4 * sizeof(io_uring_sqe), IORING_OFF_SQES);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (file_ >= 0) ::close(file_);
  }

  [[nodiscard]] bool made() const { return file_ >= 0; }

  /// The result of `entry`.
  int run(const io_uring_sqe& entry) {
    if (!made()) return -errno;
    std::memcpy(entries_, &entry, sizeof entry);
    auto* tail = reinterpret_cast<unsigned*>(ring_ + parameters_.sq_off.tail);
    *reinterpret_cast<unsigned*>(ring_ + parameters_.sq_off.array) = 0;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (::syscall(SYS_io_uring_enter, file_, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0)
      return -errno;
    io_uring_cqe answer{};
    std::memcpy(static_cast<void*>(&answer), results_ + parameters_.cq_off.cqes, 16);
    return answer.res;
  }

 private:
  unsigned char* map(std::size_t size, off_t offset) const {
    return static_cast<unsigned char*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, offset));
  }

  io_uring_params parameters_{};
  int file_ = -1;
  unsigned char* ring_ = nullptr;
  unsigned char* results_ = nullptr;
  unsigned char* entries_ = nullptr;
};

bool ring_does(const io_uring_sqe& entry) {
  Ring ring;
  const int result = ring.run(entry);
  if (result < 0) errno = -result;
  return opened(result);
}

constexpr std::array kDoors{
    Probe{"door_ring", "io_uring_setup", kSeccomp,
          [](const Prey&, const Target&) { return Ring().made(); }},
    Probe{"door_ring_open", "a file opened by io_uring", kSeccomp | kLandlock | kMounts,
          [](const Prey&, const Target& t) {
            io_uring_sqe entry{};
            entry.opcode = IORING_OP_OPENAT;
            entry.fd = AT_FDCWD;
            entry.addr = reinterpret_cast<std::uint64_t>(t.secret.data());
            entry.open_flags = O_RDONLY;
            return ring_does(entry);
          }},
    Probe{"door_ring_socket", "a socket made by io_uring", kSeccomp,
          [](const Prey&, const Target&) {
            io_uring_sqe entry{};
            entry.opcode = 45;  // IORING_OP_SOCKET
            entry.fd = AF_INET;
            entry.off = SOCK_STREAM;
            return ring_does(entry);
          }},
    Probe{"door_ring_attribute", "an attribute set by io_uring", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            io_uring_sqe entry{};
            entry.opcode = 42;  // IORING_OP_SETXATTR
            entry.addr = reinterpret_cast<std::uint64_t>("user.walls");
            entry.off = reinterpret_cast<std::uint64_t>("x");
            entry.len = 1;
            entry.addr3 = reinterpret_cast<std::uint64_t>(t.secret.data());
            Ring ring;
            const int result = ring.run(entry);
            if (result < 0) errno = -result;
            return result == 0;
          },
          kSeen},
    Probe{"door_bpf", "bpf", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            bpf_attr map{};
            map.map_type = BPF_MAP_TYPE_ARRAY;
            map.key_size = 4;
            map.value_size = 4;
            map.max_entries = 1;
            return opened(::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
          },
          kRoot},
    Probe{"door_perf", "perf_event_open of all processes", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            perf_event_attr event{};
            event.size = sizeof event;
            event.type = PERF_TYPE_SOFTWARE;
            event.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
            return opened(::syscall(SYS_perf_event_open, &event, -1, 0, -1, 0));
          },
          kRoot},
    Probe{"door_perf_process", "perf_event_open of another process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            perf_event_attr event{};
            event.size = sizeof event;
            event.type = PERF_TYPE_SOFTWARE;
            event.config = PERF_COUNT_SW_PAGE_FAULTS;
            event.exclude_kernel = 1;
            return opened(::syscall(SYS_perf_event_open, &event, t.process, -1, -1, 0));
          },
          kRoot},
    Probe{"door_faults", "userfaultfd", kSeccomp,
          [](const Prey&, const Target&) {
            return opened(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
          }},
    Probe{"door_key", "add_key", kSeccomp,
          [](const Prey&, const Target&) {
            return ::syscall(SYS_add_key, "user", "walls", "x", 1, -3 /* the session's */) >= 0;
          }},
    Probe{"door_request_key", "request_key", kSeccomp,
          [](const Prey&, const Target&) {
            // ENOKEY: it was looked for.
            return passes(::syscall(SYS_request_key, "user", "none", nullptr, 0));
          }},
    Probe{"door_keys", "keyctl: the keys of the user", kSeccomp,
          [](const Prey&, const Target&) {
            return ::syscall(SYS_keyctl, 0 /* get a ring */, -4 /* the user's */, 1) >= 0;
          }},
    Probe{"door_personality", "personality: addresses without randomness", kSeccomp,
          [](const Prey&, const Target&) {
            const bool set = ::syscall(SYS_personality, 0x0040000) >= 0;
            if (set) ::syscall(SYS_personality, 0);
            return set;
          }},
    Probe{"door_segments", "modify_ldt: segments for old instructions", kSeccomp,
          [](const Prey&, const Target&) {
            std::array<char, 64> table{};
            return ::syscall(SYS_modify_ldt, 0, table.data(), table.size()) >= 0;
          }},
};

constexpr std::array kMachine{
    Probe{"machine_settime", "settimeofday", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            struct timezone zone{};
            timeval now{};
            ::gettimeofday(&now, &zone);
            return ::syscall(SYS_settimeofday, nullptr, &zone) == 0;
          },
          kRoot},
    Probe{"machine_clock", "clock_settime", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            timespec now{};
            ::clock_gettime(CLOCK_REALTIME, &now);
            return ::clock_settime(CLOCK_REALTIME, &now) == 0;
          },
          kRoot},
    Probe{"machine_adjust", "adjtimex", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            timex change{};
            ::syscall(SYS_adjtimex, &change);
            change.modes = ADJ_FREQUENCY;
            return ::syscall(SYS_adjtimex, &change) >= 0;
          },
          kRoot},
    Probe{"machine_clock_adjust", "clock_adjtime", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            timex change{};
            ::syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change);
            change.modes = ADJ_FREQUENCY;
            return ::syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change) >= 0;
          },
          kRoot},
    Probe{"machine_name", "sethostname", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            std::array<char, 64> name{};
            ::gethostname(name.data(), name.size() - 1);
            return ::sethostname(name.data(), std::strlen(name.data())) == 0;
          },
          kRoot},
    Probe{"machine_domain", "setdomainname", kSeccomp | kUser,
          [](const Prey&, const Target&) { return ::setdomainname("(none)", 6) == 0; }, kRoot},
    Probe{"machine_reboot", "reboot", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            // EINVAL: an unknown command of a process that may reboot.
            return passes(::syscall(SYS_reboot, 0xfee1dead, 672274793, 0x11223344, nullptr));
          },
          kRoot},
    Probe{"machine_swap", "swapon", kSeccomp | kUser,
          [](const Prey&, const Target&) { return passes(::syscall(SYS_swapon, "none", 0)); },
          kRoot},
    Probe{"machine_swap_off", "swapoff", kSeccomp | kUser,
          [](const Prey&, const Target&) { return passes(::syscall(SYS_swapoff, "none")); }, kRoot},
    Probe{"machine_quota", "quotactl", kSeccomp,
          [](const Prey&, const Target&) {
            // ENOTBLK: it is no disk.
            return passes(::syscall(SYS_quotactl, 0x800001 << 8, "/dev/null", 0, nullptr));
          }},
    Probe{"machine_accounting", "acct", kSeccomp | kUser,
          [](const Prey&, const Target&) { return passes(::syscall(SYS_acct, "none")); }, kRoot},
    Probe{"machine_log", "syslog: the kernel's messages", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            std::array<char, 64> text{};
            return ::syscall(SYS_syslog, 3, text.data(), text.size()) > 0;
          },
          kRoot},
    Probe{"machine_ports", "ioperm", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            const bool done = ::syscall(SYS_ioperm, 0x80, 1, 1) == 0;
            if (done) ::syscall(SYS_ioperm, 0x80, 1, 0);
            return done;
          },
          kRoot},
    Probe{"machine_all_ports", "iopl", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            const bool done = ::syscall(SYS_iopl, 3) == 0;
            if (done) ::syscall(SYS_iopl, 0);
            return done;
          },
          kRoot},
    Probe{"machine_module", "init_module", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_init_module, "none", 4, ""));
          },
          kRoot},
    Probe{"machine_module_file", "finit_module", kSeccomp | kUser,
          [](const Prey&, const Target&) { return passes(::syscall(SYS_finit_module, 0, "", 0)); },
          kRoot},
    Probe{"machine_module_removed", "delete_module", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_delete_module, "none", O_NONBLOCK));
          },
          kRoot},
    Probe{"machine_kernel", "kexec_load", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_kexec_load, 0, 0, nullptr, 0x80000000UL));
          },
          kRoot},
    Probe{"machine_kernel_file", "kexec_file_load", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            return passes(::syscall(SYS_kexec_file_load, -1, -1, 0, nullptr, 0x80000000UL));
          },
          kRoot},
};

}  // namespace

Family kernel_interfaces() {
  return {"doors of the kernel", kDoors, 2};
}

Family machine() {
  return {"the machine", kMachine};
}

}  // namespace ratchet::walls
