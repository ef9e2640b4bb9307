#pragma once

#include "kbs/knowledge.h"
#include "server/mcp/features/features.h"
#include "server/runs/runs.h"

namespace ratchet {

// What clients may offer while a person types an argument. The services outlive the functions.
// Each gives one value more than the protocol sends at once, so that it can say there are more.

/// Run ids, newest first.
[[nodiscard]] mcp::Complete run_ids(Runs& runs);
/// Versions of the run that another argument, `run`, names.
[[nodiscard]] mcp::Complete versions(Runs& runs);
/// Files of the output directory of `run`, below `version` when that is given too.
[[nodiscard]] mcp::Complete artifacts(Runs& runs);
/// Ids of knowledge pages.
[[nodiscard]] mcp::Complete page_ids(Knowledge& knowledge);

}  // namespace ratchet
