#pragma once

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet::worker {

/// What a worker process is for; given as its first argument.
enum class WorkerRole {
  judge,      ///< makes inputs and compares: our code only
  candidate,  ///< runs one untrusted kernel
  counter,    ///< runs one untrusted kernel and reads hardware counters; never times
  compiler,   ///< runs one untrusted kernel so that its own compiler fills its cache; may start
              ///< programs; neither checked nor timed
  baseline,   ///< runs a framework's function from the reference; may start programs
  tool,       ///< runs one untrusted kernel under a tool that watches it; neither checked nor timed
  profiled,   ///< as tool, under ncu, whose library in this process reads the counters
};

[[nodiscard]] Result<WorkerRole> parse_role(const std::string& text);

/// Takes away what untrusted code must not have, for the rest of the process. Call once, from the
/// only thread that will call the kernel, after the device's context exists.
///
///   - the process is not dumpable: no other process of this user reads its memory;
///   - as root: all capabilities go (counter and profiled keep CAP_SYS_ADMIN and CAP_PERFMON, which
///     CUDA's and perf's counters ask for), and the host's candidate becomes the user `nobody`;
///   - no_new_privs;
///   - Landlock, where the kernel has it: system folders and the toolkit read-only, the private
///     temporary folder writable, of /dev the null devices and the GPU's (profilers and tools: all
///     of it), nothing else;
///   - seccomp: no new programs or processes (threads are allowed; compiler and baseline may start
///     programs, which stay in the process group and the sandbox), no sockets, no tracing, no
///     signals to others, no mounts, namespaces, modules, keys or io_uring. A forbidden call ends
///     the process with SIGSYS and a line on stderr that names it.
///
/// `readable`: further files and folders that the process may read, such as an interpreter's
/// libraries. Where `nobody` could not reach them, the host's candidate keeps its user.
///
/// Returns what is on, for people: "seccomp, user nobody, no capabilities; no Landlock (kernel)".
/// What the system refuses is named there as missing: a weaker claim, not an error.
[[nodiscard]] std::string enter_sandbox(WorkerRole role, DeviceKind kind,
                                        const std::vector<std::string>& readable = {});

}  // namespace ratchet::worker
