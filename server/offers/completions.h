#pragma once

#include "kbs/knowledge.h"
#include "server/mcp/features/features.h"
#include "server/runs/runs.h"

namespace ratchet {

// Values that clients offer while a user types an argument. The services must outlive the
// functions. Each function returns up to one value more than the protocol sends, to show that there
// are more.

/// Run ids, newest first.
[[nodiscard]] mcp::Complete run_ids(Runs& runs);
/// Versions of the run that the argument `run` names.
[[nodiscard]] mcp::Complete versions(Runs& runs);
/// Files in the output directory of `run`, or below `version` if that is given.
[[nodiscard]] mcp::Complete artifacts(Runs& runs);
/// Ids of knowledge pages.
[[nodiscard]] mcp::Complete page_ids(Knowledge& knowledge);

}  // namespace ratchet
