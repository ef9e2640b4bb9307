#pragma once

#include "server/mcp/server.h"
#include "server/runs/runs.h"

namespace ratchet {

/// From now on, notifies the clients of `server` of every change to the files of a run: subscribers
/// of the resources, and of new or removed ones everybody who lists resources. Call it once, before
/// serving. `server` must outlive the last step recorded in `runs`.
void notify_of_changes(Runs& runs, mcp::Server& server);

}  // namespace ratchet
