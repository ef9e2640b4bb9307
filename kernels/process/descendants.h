#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace ratchet {

/// Makes this process the reaper of orphaned descendants, so that none escapes, and hides its
/// memory from other processes of the same user. Call once, early.
void guard_server_process();

/// All living processes below `root` by the parent links in /proc, excluding `root` itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t root);

/// Living descendants of this process that run in `folder` or were started with `HOME=<folder>`.
/// Both are inherited from the worker that owns the private folder, however often it forked.
[[nodiscard]] std::vector<pid_t> adopted_from(const std::filesystem::path& folder);

/// Sends SIGKILL to each, and reaps those that are now our children. Waits at most a second in all.
void end_processes(const std::vector<pid_t>& processes);

}  // namespace ratchet
