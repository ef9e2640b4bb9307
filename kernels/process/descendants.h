#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace ratchet {

/// Makes orphaned descendants children of this process instead of the system's first one, so that
/// none can get away, and hides this process's memory from others of its user. Call once, early.
void guard_server_process();

/// All living processes below `root` by the parent links in /proc, without `root` itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t root);

/// Living descendants of this process that run in `folder` or were started with `HOME=<folder>`:
/// both are inherited from the worker whose private folder it is, however often they forked since.
[[nodiscard]] std::vector<pid_t> adopted_from(const std::filesystem::path& folder);

/// SIGKILL to each, and reaps those that became ours. Waits at most a second in all.
void end_processes(const std::vector<pid_t>& processes);

/// Reaps what is left of a killed process group whose members became ours. Waits at most a second.
void reap_group(pid_t group);

}  // namespace ratchet
