// More processes, other programs, and a way out of the process group that the server ends.

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr const char* kProgram = "/bin/touch";
constexpr std::array<const char*, 3> kArguments{"touch", "proof", nullptr};
constexpr std::array<const char*, 1> kEnvironment{nullptr};

char* const* words(const std::array<const char*, 3>& list) {
  return const_cast<char* const*>(list.data());
}

char* const* variables() {
  return const_cast<char* const*>(kEnvironment.data());
}

/// In the child of `made`: leaves the proof. In the parent: waits for it.
bool proves(long made) {
  if (made == 0) {
    leave_proof();
    ::_exit(0);
  }
  if (made < 0) return false;
  ::waitpid(static_cast<pid_t>(made), nullptr, __WALL);
  return true;
}

/// A program without a name.
int copied_program() {
  const int program = ::open(kProgram, O_RDONLY | O_CLOEXEC);
  const int copy = ::memfd_create("program", MFD_CLOEXEC);
  struct stat state{};
  if (program < 0 || copy < 0 || ::fstat(program, &state) != 0) return -1;
  ::sendfile(copy, program, nullptr, static_cast<std::size_t>(state.st_size));
  ::close(program);
  return copy;
}

/// Stays behind as a process that the harness finds by its name.
[[noreturn]] void stay_behind() {
  ::prctl(PR_SET_NAME, "left-behind", 0, 0, 0);
  ::alarm(20);
  for (;;) {
  }
}

constexpr std::array kProbes{
    Probe{"process_fork", "fork", kSeccomp,
          [](const Prey&, const Target&) { return proves(::syscall(SYS_fork)); }},
    Probe{"process_clone", "clone", kSeccomp,
          [](const Prey&, const Target&) {
            return proves(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
          }},
    Probe{"process_clone3", "clone3", kSeccomp,
          [](const Prey&, const Target&) {
            clone_args arguments{};
            arguments.exit_signal = SIGCHLD;
            return proves(::syscall(SYS_clone3, &arguments, sizeof arguments));
          }},
    Probe{"process_vfork", "vfork", kSeccomp,
          [](const Prey&, const Target&) {
            // vfork itself, because its frame must not be left by the child.
            const pid_t made = ::vfork();
            if (made == 0) ::_exit(0);
            if (made > 0) ::waitpid(made, nullptr, 0);
            return made > 0;
          }},
    Probe{"process_shared_memory", "clone that shares memory, but is no thread", kSeccomp,
          [](const Prey&, const Target&) {
            static std::array<char, 65536> stack;
            const int made = ::clone(
                [](void*) {
                  leave_proof();
                  return 0;
                },
                stack.data() + stack.size(), CLONE_VM | SIGCHLD, nullptr);
            if (made > 0) ::waitpid(made, nullptr, 0);
            return made > 0;
          }},
    Probe{"process_storm", "a fork storm", kSeccomp | kServer,
          [](const Prey& prey, const Target&) {
            const pid_t group = ::getpid();
            std::vector<pid_t> children;
            for (int i = 0; i < prey.count; ++i) {
              const pid_t made = ::fork();
              if (made == 0) {
                ::alarm(20);
                ::pause();
                ::_exit(0);
              }
              if (made < 0) break;
              children.push_back(made);
            }
            const int kept = errno;
            for (const pid_t child : children) {
              ::kill(child, SIGKILL);
              ::waitpid(child, nullptr, 0);
            }
            errno = kept;
            return group > 0 && children.size() == static_cast<std::size_t>(prey.count);
          }},
    Probe{"process_threads", "too many threads", kLimits,
          [](const Prey& prey, const Target&) {
            // Each is only a task that waits until the process ends, on a stack of its own.
            constexpr std::size_t each = 4096;
            static std::array<char, 2000 * each> stacks;
            constexpr int flags =
                CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
            const auto wait = [](void*) {
              for (;;) ::pause();
              return 0;
            };
            int made = 0;
            while (made < prey.count &&
                   ::clone(wait, stacks.data() + static_cast<std::size_t>(made + 1) * each, flags,
                           nullptr) >= 0)
              ++made;
            wait_for_watch(prey);
            return made == prey.count;
          }},
    Probe{"process_exec", "execve", kSeccomp,
          [](const Prey&, const Target&) {
            ::execve(kProgram, words(kArguments), variables());
            return false;
          },
          kSeen},
    Probe{"process_exec_descriptor", "execveat of a descriptor", kSeccomp,
          [](const Prey&, const Target&) {
            const int program = ::open(kProgram, O_PATH | O_CLOEXEC);
            ::syscall(SYS_execveat, program, "", words(kArguments), variables(), AT_EMPTY_PATH);
            return false;
          },
          kSeen},
    Probe{"process_exec_memory", "a program in a memory file", kSeccomp,
          [](const Prey&, const Target&) {
            ::fexecve(copied_program(), words(kArguments), variables());
            return false;
          },
          kSeen},
    Probe{"process_session", "setsid", kSeccomp,
          [](const Prey&, const Target&) {
            // EPERM where it leads its group already, as outside of a worker's confinement.
            const pid_t made = ::fork();
            if (made == 0) {
              if (::setsid() > 0) leave_proof();
              ::_exit(0);
            }
            if (made > 0) ::waitpid(made, nullptr, 0);
            return false;
          },
          kSeen},
    Probe{"process_group", "setpgid into a group of its own", kSeccomp,
          [](const Prey&, const Target&) {
            const pid_t made = ::fork();
            if (made == 0) {
              if (::setpgid(0, 0) == 0 && ::getpgrp() == ::getpid()) leave_proof();
              ::_exit(0);
            }
            if (made > 0) ::waitpid(made, nullptr, 0);
            return false;
          },
          kSeen},
    Probe{"process_left_behind", "a process that hogs the processor after the end",
          kSeccomp | kServer,
          [](const Prey&, const Target&) {
            const pid_t made = ::fork();
            if (made == 0) {
              ::setsid();
              if (::fork() == 0) stay_behind();
              ::_exit(0);
            }
            if (made > 0) ::waitpid(made, nullptr, 0);
            return false;
          },
          kSeen},
    Probe{"process_folder_kept", "a folder that its owner cannot remove", kSeccomp | kServer,
          [](const Prey&, const Target&) {
            if (::mkdir("kept", 0700) != 0 || ::mkdir("kept/inside", 0700) != 0) return false;
            (void)!::chmod("kept", 0);
            return false;
          },
          kSeen},
    Probe{"process_folder_deep", "a folder deeper than any path is long", kServer,
          [](const Prey&, const Target&) {
            const int here = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
            for (int i = 0; i < 1000; ++i)
              if (::mkdir("deep", 0700) != 0 || ::chdir("deep") != 0) break;
            (void)!::fchdir(here);
            ::close(here);
            return false;
          },
          kSeen},
};

}  // namespace

Family processes() {
  return {"processes", kProbes};
}

}  // namespace ratchet::walls
