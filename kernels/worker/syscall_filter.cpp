#include "kernels/worker/syscall_filter.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace ratchet::worker {
namespace {

// By name, because libseccomp knows calls that older system headers lack.
constexpr std::array kForbidden{
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "unshare", "setns",
    // persistent state of the machine
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount",
    "fspick", "fsconfig", "mount_setattr", "swapon", "swapoff", "reboot", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "acct", "syslog",
    "quotactl", "quotactl_fd", "iopl", "ioperm", "mknod", "mknodat",
    // memory that outlives the process
    "shmget", "shmat", "shmctl", "semget", "msgget", "mq_open", "add_key", "request_key", "keyctl",
    // ways around this filter
    "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "userfaultfd", "seccomp", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
    "personality", "vhangup", "lookup_dcookie"};

constexpr std::array kPrograms{"execve", "execveat", "fork", "vfork"};

// Would leave the process group, which the server kills as a whole.
constexpr std::array kGroups{"setsid", "setpgid"};

constexpr std::array kNetwork{"socket", "socketpair", "connect", "bind",
                              "listen", "accept",     "accept4"};

// Would change the clock or undo the process's protection.
constexpr std::array kForbiddenControls{PR_SET_TSC,       PR_SET_SECCOMP,         PR_SET_DUMPABLE,
                                        PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_PTRACER};

void say(std::string_view text) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

/// Signal handler for forbidden calls. Looking up the name here is acceptable: the process is
/// ending.
void on_forbidden_call(int, siginfo_t* info, void*) {
  char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, info->si_syscall);
  say("forbidden system call: ");
  say(name ? name : "unknown");
  say("\n");
  ::signal(SIGSYS, SIG_DFL);
  ::raise(SIGSYS);
}

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release) {}

  explicit operator bool() const { return context_ != nullptr; }

  /// Calls that this architecture lacks are ignored.
  void forbid(const char* name, std::uint32_t action = SCMP_ACT_TRAP) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR)
      ::seccomp_rule_add_array(context_.get(), action, number, 0, nullptr);
  }

  void forbid_when(const char* name, const scmp_arg_cmp& condition,
                   std::uint32_t action = SCMP_ACT_TRAP) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR)
      ::seccomp_rule_add_array(context_.get(), action, number, 1, &condition);
  }

  [[nodiscard]] int load() { return ::seccomp_load(context_.get()); }

 private:
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
};

scmp_arg_cmp argument(unsigned index, scmp_compare comparison, std::uint64_t a,
                      std::uint64_t b = 0) {
  return {index, comparison, a, b};
}

}  // namespace

std::string forbid_system_calls(DeviceKind kind, bool starts_programs) {
  Filter filter;
  if (!filter) return "no seccomp (no memory)";
  for (const char* name : kForbidden) filter.forbid(name);
  for (const char* name : kNetwork)
    filter.forbid(name, kind == DeviceKind::cuda ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
  for (const int option : kForbiddenControls)
    filter.forbid_when("prctl", argument(0, SCMP_CMP_EQ, static_cast<std::uint64_t>(option)));
  filter.forbid("clone3", SCMP_ACT_ERRNO(ENOSYS));
  // Build tools put each compiler into its own group; the calls report success and do nothing.
  for (const char* name : kGroups)
    filter.forbid(name, starts_programs ? SCMP_ACT_ERRNO(0) : SCMP_ACT_TRAP);
  if (!starts_programs) {
    for (const char* name : kPrograms) filter.forbid(name);
    filter.forbid_when("clone", argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  }
  const auto self = static_cast<std::uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.forbid_when(name, argument(0, SCMP_CMP_NE, self));
  filter.forbid_when("prlimit64", argument(0, SCMP_CMP_NE, 0), SCMP_ACT_ERRNO(EPERM));

  struct sigaction action{};
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  const int failed = filter.load();
  return failed ? std::string("no seccomp (") + std::strerror(-failed) + ")" : "";
}

}  // namespace ratchet::worker
