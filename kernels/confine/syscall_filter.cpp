#include "kernels/confine/syscall_filter.h"

#include <asm/sockios.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/confine/test_switch.h"

namespace ratchet::confine {
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
    "quotactl", "quotactl_fd", "iopl", "ioperm", "mknod", "mknodat", "nfsservctl",
    // memory that outlives the process
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "msgget", "msgsnd", "msgrcv",
    "msgctl", "mq_open", "mq_unlink", "add_key", "request_key", "keyctl",
    // ways around this filter
    "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "userfaultfd", "seccomp", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
    "fanotify_mark", "memfd_secret", "personality", "vhangup", "lookup_dcookie", "modify_ldt",
    "uselib"};

constexpr std::array kPrograms{"execve", "execveat", "fork", "vfork"};

// Would leave the process group, which the server kills as a whole.
constexpr std::array kGroups{"setsid", "setpgid"};

constexpr std::array kNetwork{"socket", "socketpair", "connect", "bind",
                              "listen", "accept",     "accept4"};

// Landlock does not cover metadata of files that a process may not open.
constexpr std::array kMetadata{"chmod",     "fchmod",    "fchmodat",    "fchmodat2", "chown",
                               "fchown",    "lchown",    "fchownat",    "utime",     "utimes",
                               "futimesat", "utimensat", "file_setattr"};
// Newer than the names that libseccomp may know; the numbers are the same on all architectures.
constexpr std::array<std::pair<std::string_view, int>, 6> kNewNumbers{{{"fchmodat2", 452},
                                                                       {"setxattrat", 463},
                                                                       {"getxattrat", 464},
                                                                       {"listxattrat", 465},
                                                                       {"removexattrat", 466},
                                                                       {"file_setattr", 469}}};
constexpr std::array kExtendedAttributes{
    "setxattr",    "lsetxattr",    "fsetxattr",    "setxattrat",   "getxattr",   "lgetxattr",
    "fgetxattr",   "getxattrat",   "listxattr",    "llistxattr",   "flistxattr", "listxattrat",
    "removexattr", "lremovexattr", "fremovexattr", "removexattrat"};

// The first argument is a process or thread; 0 is the caller.
constexpr std::array kScheduling{"sched_setaffinity", "sched_setscheduler", "sched_setparam",
                                 "sched_setattr",     "migrate_pages",      "move_pages"};

// Would change the clock or undo the process's protection.
constexpr std::array kForbiddenControls{PR_SET_TSC,
                                        PR_SET_SECCOMP,
                                        PR_SET_DUMPABLE,
                                        PR_SET_PDEATHSIG,
                                        PR_SET_CHILD_SUBREAPER,
                                        PR_SET_PTRACER,
                                        PR_SET_MM,
                                        PR_SET_SYSCALL_USER_DISPATCH};

// Would type into a terminal, or send signals to others when a file is ready.
constexpr std::array<std::uint64_t, 4> kForbiddenDeviceControls{TIOCSTI, 0x541c /* TIOCLINUX */,
                                                                FIOSETOWN, SIOCSPGRP};
constexpr std::array kForbiddenFileControls{F_SETOWN, F_SETOWN_EX, F_SETSIG};

/// The number of a call by name; negative if neither libseccomp nor the table above knows it.
int number_of(const char* name) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number != __NR_SCMP_ERROR) return number;
  const auto known = std::ranges::find(kNewNumbers, std::string_view(name),
                                       [](const auto& one) { return one.first; });
  return known == kNewNumbers.end() ? number : known->second;
}

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
  ::raise(SIGSYS);  // SA_RESETHAND: now ends the process
}

/// The kernel reads 32 bits of these arguments; a comparison of all 64 could be evaded by the
/// others.
scmp_arg_cmp is(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_MASKED_EQ, 0xffffffffU, value & 0xffffffffU};
}

/// True also if only the ignored bits differ, which no honest program does.
scmp_arg_cmp is_not(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_NE, value, 0};
}

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release) {
    if (!context_) return;
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree, not a list
  }

  explicit operator bool() const { return context_ != nullptr; }

  /// Calls that this architecture lacks are ignored.
  void forbid(const char* name, std::uint32_t action = SCMP_ACT_TRAP,
              std::initializer_list<scmp_arg_cmp> when = {}) {
    const int number = number_of(name);
    if (number != __NR_SCMP_ERROR)
      ::seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(when.size()),
                               when.begin());
  }

  template <std::size_t N>
  void forbid_all(const std::array<const char*, N>& names, std::uint32_t action = SCMP_ACT_TRAP,
                  std::initializer_list<scmp_arg_cmp> when = {}) {
    for (const char* name : names) forbid(name, action, when);
  }

  [[nodiscard]] int load() { return ::seccomp_load(context_.get()); }

 private:
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
};

void forbid_programs(Filter& filter, bool starts_programs) {
  filter.forbid("clone3", SCMP_ACT_ERRNO(ENOSYS));
  filter.forbid_all(kGroups, starts_programs ? SCMP_ACT_ERRNO(0) : SCMP_ACT_TRAP);
  if (starts_programs) {
    for (const std::uint64_t space : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                      CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET})
      filter.forbid("clone", SCMP_ACT_TRAP, {{0, SCMP_CMP_MASKED_EQ, space, space}});
    return;
  }
  filter.forbid_all(kPrograms);
  filter.forbid("clone", SCMP_ACT_TRAP, {{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0}});
}

/// A file that would run as this process's user, whoever starts it. openat2, whose mode lies in
/// memory, is not there, and programs fall back.
void forbid_setuid_files(Filter& filter) {
  for (const std::uint64_t bit : {S_ISUID, S_ISGID}) {
    const auto with = [&](unsigned index) {
      return scmp_arg_cmp{index, SCMP_CMP_MASKED_EQ, bit, bit};
    };
    const auto flag = [](unsigned index, std::uint64_t value) {
      return scmp_arg_cmp{index, SCMP_CMP_MASKED_EQ, value, value};
    };
    constexpr std::uint64_t kNameless = O_TMPFILE & ~O_DIRECTORY;
    filter.forbid("creat", SCMP_ACT_ERRNO(EPERM), {with(1)});
    for (const std::uint64_t makes : {std::uint64_t{O_CREAT}, kNameless}) {
      filter.forbid("open", SCMP_ACT_ERRNO(EPERM), {flag(1, makes), with(2)});
      filter.forbid("openat", SCMP_ACT_ERRNO(EPERM), {flag(2, makes), with(3)});
    }
  }
  filter.forbid("openat2", SCMP_ACT_ERRNO(ENOSYS));
}

void forbid_reaching_others(Filter& filter, bool starts_programs) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  // A program that this process starts has another number, and may signal itself.
  const auto signals = starts_programs ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.forbid(name, signals, {is_not(0, self)});
  filter.forbid("prlimit64", SCMP_ACT_ERRNO(EPERM), {is_not(0, 0)});
  // Success is reported because OpenMP runtimes place their own threads this way, by number.
  filter.forbid_all(kScheduling, SCMP_ACT_ERRNO(0), {is_not(0, 0)});
  // Which kind of number the second argument is: the first of setpriority counts from 0, of
  // ioprio_set from 1.
  filter.forbid("setpriority", SCMP_ACT_ERRNO(0), {is_not(0, PRIO_PROCESS)});
  filter.forbid("setpriority", SCMP_ACT_ERRNO(0), {is_not(1, 0)});
  filter.forbid("ioprio_set", SCMP_ACT_ERRNO(0), {is_not(0, 1)});
  filter.forbid("ioprio_set", SCMP_ACT_ERRNO(0), {is_not(1, 0)});
  for (const auto request : kForbiddenDeviceControls)
    filter.forbid("ioctl", SCMP_ACT_TRAP, {is(1, request)});
  for (const int command : kForbiddenFileControls)
    filter.forbid("fcntl", SCMP_ACT_TRAP, {is(1, static_cast<std::uint64_t>(command))});
}

/// The value of a line "Name:\tvalue" of a status file.
std::string field_of(const std::string& status, std::string_view name) {
  const auto at = status.find("\n" + std::string(name) + ":");
  if (at == std::string::npos) return "";
  const auto begin = status.find_first_not_of(" \t", at + name.size() + 2);
  return status.substr(begin, status.find('\n', begin) - begin);
}

}  // namespace

Outcome forbid_system_calls(const Profile& profile, DeviceKind kind) {
  if (taken_out("seccomp")) return {false, "no seccomp (taken out)"};
  const bool cuda = kind == DeviceKind::cuda;
  const bool programs = profile.starts_programs;
  Filter filter;
  if (!filter) return {false, "no seccomp (no memory)"};
  filter.forbid_all(kForbidden);
  filter.forbid_all(kNetwork, cuda || programs ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
  filter.forbid_all(kMetadata, cuda || programs ? SCMP_ACT_ERRNO(0) : SCMP_ACT_TRAP);
  filter.forbid_all(kExtendedAttributes,
                    cuda || programs ? SCMP_ACT_ERRNO(EOPNOTSUPP) : SCMP_ACT_TRAP);
  if (!cuda) filter.forbid("memfd_create", SCMP_ACT_ERRNO(ENOSYS));
  for (const int option : kForbiddenControls)
    filter.forbid("prctl", SCMP_ACT_TRAP, {is(0, static_cast<std::uint64_t>(option))});
  // Asking for the handler is allowed: interpreters ask for all of them when they start.
  filter.forbid("rt_sigaction", SCMP_ACT_ERRNO(EINVAL), {is(0, SIGSYS), {1, SCMP_CMP_NE, 0, 0}});
  forbid_setuid_files(filter);
  forbid_programs(filter, programs);
  forbid_reaching_others(filter, programs);

  struct sigaction action{};
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
  const int failed = filter.load();
  if (failed) return {false, std::string("no seccomp (") + std::strerror(-failed) + ")"};
  return {true, "seccomp"};
}

Outcome all_threads_covered(const Profile& profile) {
  std::error_code failed;
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    std::ifstream file(entry.path() / "status");
    const std::string status((std::istreambuf_iterator<char>(file)), {});
    if (status.empty()) continue;  // it has just ended
    ++threads;
    const auto capabilities = field_of(status, "CapEff");
    const bool excess = !profile.after_device &&
                        (capabilities.empty() ||
                         (std::stoull(capabilities, nullptr, 16) & ~profile.capabilities) != 0);
    if (field_of(status, "Seccomp") != "2" || field_of(status, "NoNewPrivs") != "1" || excess)
      return {false, "no walls around thread " + entry.path().filename().string() + " (" +
                         status.substr(6, status.find('\n') - 6) + ")"};
  }
  if (threads == 0) return {false, "no list of threads in /proc"};
  return {true, "on all threads"};
}

}  // namespace ratchet::confine
