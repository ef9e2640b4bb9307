#pragma once

#include <vector>

#include "server/mcp/features/features.h"
#include "server/runs/runs.h"

namespace ratchet {

/// The prompts that clients show as slash commands: `kernel_loop`, `diagnose` and `final_report`.
/// Run ids complete from `runs`, which outlives the prompts.
[[nodiscard]] std::vector<mcp::Prompt> all_prompts(Runs& runs);

}  // namespace ratchet
