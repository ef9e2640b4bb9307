#pragma once

#include <filesystem>
#include <vector>

#include "kbs/knowledge.h"
#include "server/mcp/features/features.h"
#include "server/runs/runs.h"

namespace ratchet {

/// The resources; the services must outlive the providers.
///   run://<run>/<artifact>   a file that the run wrote, from the ledger; may change
///   kbs://page/<id>          a knowledge page
///   doc://<name>             how to work with ratchet, from `docs_dir`
[[nodiscard]] std::vector<mcp::ResourceProvider> all_resources(
    Runs& runs, Knowledge& knowledge, const std::filesystem::path& docs_dir);

}  // namespace ratchet
