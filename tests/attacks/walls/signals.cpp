// Other processes: signals to them, a look into them, and their share of the machine.

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr unsigned kUnusedUser = 1'987'654'321;

std::string of_process(const Target& target, const std::string& name) {
  return "/proc/" + std::to_string(target.process) + "/" + name;
}

siginfo_t queued() {
  siginfo_t info{};
  info.si_signo = SIGUSR1;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  return info;
}

/// Lets the kernel send a signal when the own pipe becomes readable.
bool signals_by_pipe(int command, const void* owner) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  const bool set = ::syscall(SYS_fcntl, ends[0], command, owner) == 0 &&
                   ::fcntl(ends[0], F_SETFL, O_ASYNC) == 0 && ::write(ends[1], "x", 1) == 1;
  const int kept = errno;
  for (const int end : ends) ::close(end);
  errno = kept;
  return set;
}

bool signals_by_descriptor(int file) {
  if (file < 0) return false;
  const bool sent = ::syscall(SYS_pidfd_send_signal, file, SIGUSR1, nullptr, 0) == 0;
  const int kept = errno;
  ::close(file);
  errno = kept;
  return sent;
}

int descriptor_of(const Target& target) {
  return static_cast<int>(::syscall(SYS_pidfd_open, target.process, 0));
}

/// Writes `text` to a file of the other process.
bool writes(const Target& target, const char* name, std::string_view text) {
  const int file = ::open(of_process(target, name).c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int kept = errno;
  if (file >= 0) ::close(file);
  errno = kept;
  return written;
}

bool traces(int request, const Target& target) {
  if (::syscall(SYS_ptrace, request, target.process, nullptr, nullptr) != 0) return false;
  ::syscall(SYS_ptrace, PTRACE_INTERRUPT, target.process, nullptr, nullptr);
  ::waitpid(target.process, nullptr, __WALL);
  ::syscall(SYS_ptrace, PTRACE_DETACH, target.process, nullptr, nullptr);
  return true;
}

struct SchedulerAttributes {
  std::uint32_t size = sizeof(SchedulerAttributes);
  std::uint32_t policy = SCHED_BATCH;
  std::uint64_t flags = 0;
  std::int32_t nice = 5;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

constexpr std::array kSignals{
    Probe{"signal_kill", "kill", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return ::kill(t.process, SIGUSR1) == 0; }, kSeen},
    Probe{"signal_group", "kill of a process group", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return ::kill(-t.process, SIGUSR1) == 0; }, kSeen},
    Probe{"signal_exists", "kill with signal 0: whether a process is there",
          kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return ::kill(t.process, 0) == 0; }},
    Probe{
        "signal_tkill", "tkill", kSeccomp | kLandlock | kUser,
        [](const Prey&, const Target& t) { return ::syscall(SYS_tkill, t.process, SIGUSR1) == 0; },
        kSeen},
    Probe{"signal_tgkill", "tgkill", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_tgkill, t.process, t.process, SIGUSR1) == 0;
          },
          kSeen},
    Probe{"signal_queue", "rt_sigqueueinfo", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            auto info = queued();
            return ::syscall(SYS_rt_sigqueueinfo, t.process, SIGUSR1, &info) == 0;
          },
          kSeen},
    Probe{"signal_thread_queue", "rt_tgsigqueueinfo", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            auto info = queued();
            return ::syscall(SYS_rt_tgsigqueueinfo, t.process, t.process, SIGUSR1, &info) == 0;
          },
          kSeen},
    Probe{"signal_descriptor", "pidfd_send_signal", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return signals_by_descriptor(descriptor_of(t)); },
          kSeen},
    Probe{"signal_folder", "pidfd_send_signal on /proc/<pid>",
          kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            return signals_by_descriptor(
                ::open(of_process(t, "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
          },
          kSeen},
    Probe{"signal_owner", "SIGIO through F_SETOWN on an own pipe", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            return signals_by_pipe(
                F_SETOWN, reinterpret_cast<const void*>(static_cast<std::intptr_t>(t.process)));
          },
          kSeen},
    Probe{"signal_owner_ex", "SIGIO through F_SETOWN_EX on an own pipe",
          kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            const f_owner_ex owner{F_OWNER_TID, t.process};
            return signals_by_pipe(F_SETOWN_EX, &owner);
          },
          kSeen},
};

constexpr std::array kTraces{
    Probe{"trace_attach", "ptrace(ATTACH)", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return traces(PTRACE_ATTACH, t); }, kTracing},
    Probe{"trace_seize", "ptrace(SEIZE)", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) { return traces(PTRACE_SEIZE, t); }, kTracing},
    Probe{"trace_read", "process_vm_readv", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            std::array<char, kSecret.size()> text{};
            const iovec here{text.data(), text.size()};
            const iovec there{reinterpret_cast<void*>(t.address), text.size()};
            return ::process_vm_readv(t.process, &here, 1, &there, 1, 0) > 0;
          },
          kTracing},
    Probe{"trace_write", "process_vm_writev", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            char byte = 'x';
            const iovec here{&byte, 1};
            // A byte of the page behind the secret.
            const iovec there{reinterpret_cast<void*>(t.address + 64), 1};
            return ::process_vm_writev(t.process, &here, 1, &there, 1, 0) == 1;
          },
          kTracing},
    Probe{"trace_memory", "/proc/<pid>/mem", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int file = ::open(of_process(t, "mem").c_str(), O_RDONLY | O_CLOEXEC);
            std::array<char, kSecret.size()> text{};
            const bool got = file >= 0 && ::pread(file, text.data(), text.size(),
                                                  static_cast<off_t>(t.address)) > 0;
            if (file >= 0) ::close(file);
            return got;
          },
          kTracing},
    Probe{"trace_compare", "kcmp: order of kernel addresses", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_kcmp, ::getpid(), t.process, KCMP_VM, 0, 0) >= 0;
          },
          kTracing},
    Probe{"trace_descriptor", "pidfd_getfd", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            const int process = descriptor_of(t);
            if (process < 0) return false;
            const long file = ::syscall(SYS_pidfd_getfd, process, t.file, 0);
            const int kept = errno;
            ::close(process);
            if (file >= 0) ::close(static_cast<int>(file));
            errno = kept;
            return file >= 0;
          },
          kTracing},
    Probe{"trace_advise", "process_madvise", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const int process = descriptor_of(t);
            if (process < 0) return false;
            const iovec there{reinterpret_cast<void*>(t.address & ~4095ULL), 4096};
            const bool done = ::syscall(SYS_process_madvise, process, &there, 1, MADV_COLD, 0) > 0;
            const int kept = errno;
            ::close(process);
            errno = kept;
            return done;
          },
          kTracing | kRoot},
    Probe{"trace_release", "process_mrelease", kSeccomp,
          [](const Prey&, const Target& t) {
            const int process = descriptor_of(t);
            if (process < 0) return false;
            // EINVAL: it is not dying; nothing else is asked for.
            const bool done = passes(::syscall(SYS_process_mrelease, process, 0));
            const int kept = errno;
            ::close(process);
            errno = kept;
            return done;
          }},
    Probe{"trace_robust_list", "get_robust_list: an address in another process",
          kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            void* head = nullptr;
            std::size_t size = 0;
            return ::syscall(SYS_get_robust_list, t.process, &head, &size) == 0;
          },
          kTracing},
    Probe{"trace_pipe", "vmsplice into another's pipe, opened in /proc/<pid>/fd",
          kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const int pipe =
                ::open(of_process(t, "fd/" + std::to_string(t.pipe)).c_str(), O_WRONLY | O_CLOEXEC);
            char byte = 'x';
            const iovec here{&byte, 1};
            const bool done = pipe >= 0 && ::vmsplice(pipe, &here, 1, 0) == 1;
            const int kept = errno;
            if (pipe >= 0) ::close(pipe);
            errno = kept;
            return done;
          },
          kTracing},
    Probe{"trace_oom_score", "/proc/<pid>/oom_score_adj", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return writes(t, "oom_score_adj", "999"); }, kSeen},
    Probe{"trace_dump_filter", "/proc/<pid>/coredump_filter", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return writes(t, "coredump_filter", "0x7f"); }, kSeen},
    Probe{"trace_clear_references", "/proc/<pid>/clear_refs", kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) { return writes(t, "clear_refs", "1"); }},
};

constexpr std::array kSchedules{
    Probe{"schedule_nice", "setpriority of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            return ::setpriority(PRIO_PROCESS, static_cast<id_t>(t.process), 7) == 0;
          },
          kSeen},
    Probe{"schedule_nice_group", "setpriority of a process group", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            return ::setpriority(PRIO_PGRP, static_cast<id_t>(t.process), 7) == 0;
          },
          kSeen},
    Probe{"schedule_affinity", "sched_setaffinity of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const unsigned long first = 1;
            return ::syscall(SYS_sched_setaffinity, t.process, sizeof first, &first) == 0;
          },
          kSeen},
    Probe{"schedule_scheduler", "sched_setscheduler of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const sched_param parameters{};
            return ::syscall(SYS_sched_setscheduler, t.process, SCHED_IDLE, &parameters) == 0;
          },
          kSeen},
    Probe{"schedule_parameters", "sched_setparam of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const sched_param parameters{2};  // the harness has given it 1
            return ::syscall(SYS_sched_setparam, t.process, &parameters) == 0;
          },
          kSeen | kRoot},
    Probe{"schedule_attributes", "sched_setattr of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const SchedulerAttributes attributes;
            return ::syscall(SYS_sched_setattr, t.process, &attributes, 0) == 0;
          },
          kSeen},
    Probe{"schedule_disk", "ioprio_set of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_ioprio_set, 1 /* a process */, t.process, 3 << 13 /* idle */) == 0;
          },
          kSeen},
    // Of a user that has none, so that nobody's processes change: ESRCH says that the call went
    // through.
    Probe{"schedule_disk_user", "ioprio_set of all processes of a user", kSeccomp,
          [](const Prey&, const Target&) {
            return ::syscall(SYS_ioprio_set, 3 /* a user */, kUnusedUser, 3 << 13) != 0 &&
                   errno == ESRCH;
          }},
    Probe{"schedule_nice_user", "setpriority of all processes of a user", kSeccomp,
          [](const Prey&, const Target&) {
            return ::setpriority(PRIO_USER, kUnusedUser, 1) != 0 && errno == ESRCH;
          }},
    Probe{"schedule_limits", "prlimit64 of a process", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            const rlimit limit{0, 0};
            return ::syscall(SYS_prlimit64, t.process, RLIMIT_CORE, &limit, nullptr) == 0;
          },
          kTracing | kSeen},
    Probe{"schedule_read_limits", "prlimit64 that reads", kSeccomp | kUser,
          [](const Prey&, const Target& t) {
            rlimit limit{};
            return ::syscall(SYS_prlimit64, t.process, RLIMIT_CORE, nullptr, &limit) == 0;
          },
          kTracing},
    Probe{"schedule_migrate", "migrate_pages", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            // To no node at all: EINVAL comes after the check of the rights, and nothing moves.
            const unsigned long first = 1;
            const unsigned long none = 0;
            return ::syscall(SYS_migrate_pages, t.process, 64, &first, &none) != 0 && passes(-1);
          },
          kTracing},
    Probe{"schedule_move", "move_pages: where another's pages lie", kSeccomp | kLandlock | kUser,
          [](const Prey&, const Target& t) {
            const void* page = reinterpret_cast<const void*>(t.address & ~4095ULL);
            int status = -1;
            ::syscall(SYS_move_pages, t.process, 1, &page, nullptr, &status, 0);
            return status >= 0;
          },
          kTracing},
    Probe{"schedule_real_time", "SCHED_FIFO for itself", kUser,
          [](const Prey&, const Target&) {
            const sched_param parameters{1};
            const bool set = ::syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &parameters) == 0;
            const sched_param none{};
            const int kept = errno;
            if (set) ::syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
            errno = kept;
            return set;
          },
          kRoot},
    Probe{"schedule_nice_itself", "a higher priority for itself", kUser,
          [](const Prey&, const Target&) {
            const bool set = ::setpriority(PRIO_PROCESS, 0, -5) == 0;
            const int kept = errno;
            if (set) ::setpriority(PRIO_PROCESS, 0, 0);
            errno = kept;
            return set;
          },
          kRoot},
    Probe{"schedule_cookie", "prctl(PR_SCHED_CORE) on another process", kLandlock | kUser,
          [](const Prey&, const Target& t) {
            return ::syscall(SYS_prctl, 62, 0 /* get */, t.process, 0, 0) == 0 || errno == EFAULT;
          },
          kTracing},
};

}  // namespace

Family signals() {
  return {"signals", kSignals, 2};
}

Family tracing() {
  return {"tracing", kTraces, 2};
}

Family scheduling() {
  return {"scheduling and limits", kSchedules, 2};
}

}  // namespace ratchet::walls
