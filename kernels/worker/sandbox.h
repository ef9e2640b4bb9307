#pragma once

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet::worker {

/// The role of a worker process, its first argument.
enum class WorkerRole {
  judge,      ///< generates inputs and compares outputs; runs no untrusted code
  candidate,  ///< runs one untrusted kernel
  counter,    ///< runs one untrusted kernel and reads hardware counters; never times
  compiler,   ///< runs one untrusted kernel so that its own compiler fills its cache; may start
              ///< programs; neither checked nor timed
  baseline,   ///< runs a framework's function from the reference; may start programs
  tool,       ///< runs one untrusted kernel under an observing tool; neither checked nor timed
  profiled,   ///< as tool, under ncu, whose library in this process reads the counters
};

[[nodiscard]] Result<WorkerRole> parse_role(const std::string& text);

/// Restricts the process, permanently, to what untrusted code may do. Call once, from the only
/// thread that will call the kernel, after the device's context exists.
///
///   - the process is not dumpable: no other process of this user can read its memory
///   - as root, all capabilities are dropped (counter and profiled keep CAP_SYS_ADMIN and
///     CAP_PERFMON, which CUDA's and perf's counters require), and the host's candidate becomes the
///     user `nobody`
///   - no_new_privs
///   - Landlock, where the kernel supports it: system folders and the toolkit are read-only, the
///     private temporary folder is writable; of /dev, profilers and tools may open everything,
///     kernels only the null devices and the GPU's
///   - seccomp: no new programs or processes (threads are allowed; compiler and baseline may start
///     programs, which stay in the process group and the sandbox), no sockets, no tracing, no
///     signals to other processes, no mounts, namespaces, modules, keys or io_uring. A forbidden
///     call ends the process with SIGSYS and a line on stderr that names the call.
///
/// `readable`: further files and folders that the process may read, such as an interpreter's
/// libraries. If `nobody` cannot access them, the host's candidate keeps its user.
///
/// Returns a description of the protection: "seccomp, user nobody, no capabilities; no Landlock
/// (kernel)". Protection that the system does not support is listed as missing; it is not an error.
[[nodiscard]] std::string enter_sandbox(WorkerRole role, DeviceKind kind,
                                        const std::vector<std::string>& readable = {});

}  // namespace ratchet::worker
