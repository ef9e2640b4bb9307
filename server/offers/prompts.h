#pragma once

#include <vector>

#include "server/mcp/features/features.h"
#include "server/runs/runs.h"

namespace ratchet {

/// The prompts, which clients show as slash commands: `kernel_loop`, `diagnose` and `final_report`.
/// They complete run ids from `runs`, which must outlive them.
[[nodiscard]] std::vector<mcp::Prompt> all_prompts(Runs& runs);

}  // namespace ratchet
