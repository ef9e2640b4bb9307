#pragma once

namespace ratchet {

/// Has the user's systemd put this process into a scope of its own, in which it may make control
/// groups: what `systemd-run --user --scope -p Delegate=yes` does before it starts a program.
/// Returns whether the process is there now; that takes some 20 ms, once. Leaves the process where
/// it is, and returns false, if it is root's, belongs to a service, which would lose it, or the
/// user has no systemd that answers. Thread rule: once a process, from any thread; all threads
/// move, but not the processes that were started before.
bool enter_user_scope();

}  // namespace ratchet
