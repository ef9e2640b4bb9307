// Attempts to switch a wall off, or to hide that it was met.

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr std::uint64_t kHighBit = std::uint64_t{1} << 32U;

bool sets(std::uint64_t option, std::uint64_t value, std::uint64_t more = 0) {
  return ::syscall(SYS_prctl, option, value, more, 0, 0) == 0;
}

/// Each makes one forbidden call; the filter ends the process or answers with a signal.
sigjmp_buf back;

void on_signal(int) {
  ::siglongjmp(back, 1);
}

/// Whether a handler of its own lets the process go on after a forbidden call, as if nothing had
/// happened. Where no filter stands, the call itself goes through.
bool goes_on(bool (*install)(), long call, long first, long second) {
  if (!install()) return false;
  if (::sigsetjmp(back, 1) != 0) return true;
  const long made = ::syscall(call, first, second, 0, 0, 0);
  if (made >= 0 && call == SYS_socket) ::close(static_cast<int>(made));
  return made >= 0;
}

bool by_sigaction() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER;
  return ::sigaction(SIGSYS, &action, nullptr) == 0;
}

bool by_raw_call() {
  struct Action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  };
  // Without a restorer: the handler does not return.
  const Action action{on_signal, SA_NODEFER | 0x04000000UL, +[] {}, 0};
  return ::syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof action.mask) == 0;
}

bool by_mask() {
  sigset_t all;
  ::sigfillset(&all);
  return ::sigprocmask(SIG_BLOCK, &all, nullptr) == 0;
}

/// Turns the handler that the worker has installed into one that returns.
bool by_patch() {
  struct sigaction action{};
  if (::syscall(SYS_rt_sigaction, SIGSYS, nullptr, &action, sizeof(unsigned long)) != 0)
    return false;
  void* handler = nullptr;
  std::memcpy(&handler, &action, sizeof handler);  // its first member in the kernel's view, too
  if (!handler) return true;
  const auto page = reinterpret_cast<std::uintptr_t>(handler) & ~std::uintptr_t{4095};
  if (::mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  std::memcpy(handler, "\xc3", 1);  // ret
  return true;
}

#if defined(__x86_64__)
/// A call through the entry of 32-bit programs.
long old_call(long number, long a, long b, long c) {
  long result = 0;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  if (result < 0) errno = static_cast<int>(-result);
  return result;
}
#else
long old_call(long, long, long, long) {
  errno = ENOSYS;
  return -1;
}
#endif

constexpr std::array kProbes{
    Probe{"control_dumpable", "PR_SET_DUMPABLE", kSeccomp,
          [](const Prey&, const Target&) { return sets(PR_SET_DUMPABLE, 1); }},
    Probe{"control_high_bits", "PR_SET_DUMPABLE with a high bit, which the kernel ignores",
          kSeccomp, [](const Prey&, const Target&) { return sets(PR_SET_DUMPABLE | kHighBit, 1); }},
    Probe{"control_tracer", "PR_SET_PTRACER", kSeccomp,
          [](const Prey&, const Target&) { return sets(PR_SET_PTRACER, ~0ULL); }},
    Probe{"control_memory_map", "PR_SET_MM", kSeccomp | kUser,
          [](const Prey&, const Target&) {
            // EINVAL: the address; the right has been checked before.
            return sets(PR_SET_MM, PR_SET_MM_START_CODE, 1) || (errno != EPERM && errno != ENOSYS);
          },
          kRoot},
    Probe{"control_filter", "PR_SET_SECCOMP: a filter of its own", kSeccomp,
          [](const Prey&, const Target&) {
            sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
            const sock_fprog program{1, &allow};
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
          }},
    Probe{"control_listener", "seccomp: a filter with a listener", kSeccomp,
          [](const Prey&, const Target&) {
            sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
            const sock_fprog program{1, &allow};
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            const long listener =
                ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8 /* new listener */, &program);
            if (listener >= 0) ::close(static_cast<int>(listener));
            return listener >= 0;
          }},
    Probe{"control_ambient", "PR_CAP_AMBIENT", kUser,
          [](const Prey&, const Target&) {
            __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
            std::array<__user_cap_data_struct, 2> data{};
            ::syscall(SYS_capget, &header, data.data());
            data[0].inheritable |= 1U << static_cast<unsigned>(CAP_SYS_PTRACE);
            return ::syscall(SYS_capset, &header, data.data()) == 0 &&
                   sets(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_PTRACE);
          },
          kRoot},
    Probe{"control_user", "setuid back to root", kUser,
          [](const Prey&, const Target&) { return ::syscall(SYS_setresuid, 0, 0, 0) == 0; }, kRoot},
    Probe{"control_groups", "setgroups", kUser,
          [](const Prey&, const Target&) { return ::syscall(SYS_setgroups, 0, nullptr) == 0; },
          kRoot},
    Probe{"control_bits", "PR_SET_SECUREBITS", kUser,
          [](const Prey&, const Target&) { return sets(PR_SET_SECUREBITS, 0); }, kRoot},
    Probe{"control_counter", "PR_SET_TSC: the clock of the processor", kSeccomp,
          [](const Prey&, const Target&) { return sets(PR_SET_TSC, PR_TSC_ENABLE); }},
    Probe{"control_parent", "PR_SET_PDEATHSIG: living on after the server", kSeccomp,
          [](const Prey&, const Target&) { return sets(PR_SET_PDEATHSIG, 0); }},
    Probe{"control_reaper", "PR_SET_CHILD_SUBREAPER", kSeccomp,
          [](const Prey&, const Target&) { return sets(PR_SET_CHILD_SUBREAPER, 1); }},
    Probe{"control_flusher", "PR_SET_IO_FLUSHER: memory beyond the limit", kSeccomp | kUser,
          [](const Prey&, const Target&) { return sets(PR_SET_IO_FLUSHER, 0); }, kRoot},
    Probe{"control_dispatch", "PR_SET_SYSCALL_USER_DISPATCH: an own judge of calls", kSeccomp,
          [](const Prey&, const Target&) {
            static char off = 0;
            const bool set = ::syscall(SYS_prctl, 59, 1, 0, ~0UL, &off) == 0 ||
                             ::syscall(SYS_prctl, 59, 1, 0, 0, &off) == 0;
            const int kept = errno;
            if (set) ::syscall(SYS_prctl, 59, 0, 0, 0, 0);
            errno = kept;
            return set;
          }},
    Probe{"hide_handler", "a SIGSYS handler of its own, then a forbidden call", kSeccomp,
          [](const Prey&, const Target&) {
            return goes_on(by_sigaction, SYS_socket, AF_INET, SOCK_STREAM);
          }},
    Probe{"hide_raw_handler", "the same through the bare system call", kSeccomp,
          [](const Prey&, const Target&) {
            return goes_on(by_raw_call, SYS_socket, AF_INET, SOCK_STREAM);
          }},
    Probe{"hide_patch", "the worker's handler of SIGSYS overwritten, then a forbidden call", 0,
          [](const Prey&, const Target&) {
            if (!by_patch()) return false;
            const int made = ::socket(AF_INET, SOCK_STREAM, 0);
            if (made >= 0) ::close(made);
            return made >= 0 || errno != EPERM;
          },
          kPlain, 1, "the call is not made; only that it was tried can be hidden"},
    Probe{"hide_mask", "SIGSYS blocked, then a forbidden call", kSeccomp,
          [](const Prey&, const Target&) {
            return goes_on(by_mask, SYS_socket, AF_INET, SOCK_STREAM);
          }},
    Probe{"old_socket", "a socket through the entry of 32-bit programs", kSeccomp,
          [](const Prey&, const Target&) {
            const long made = old_call(359, AF_UNIX, SOCK_STREAM, 0);
            if (made >= 0) ::close(static_cast<int>(made));
            return made >= 0;
          }},
    Probe{"old_fork", "fork through the entry of 32-bit programs", kSeccomp,
          [](const Prey&, const Target&) {
            const long made = old_call(2, 0, 0, 0);
            if (made == 0) {
              leave_proof();
              ::_exit(0);
            }
            return made > 0;
          }},
};

}  // namespace

Family controls() {
  return {"switching walls off", kProbes};
}

}  // namespace ratchet::walls
