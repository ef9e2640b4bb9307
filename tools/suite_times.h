#pragma once

#include <vector>

#include "server/core/roots.h"
#include "server/facts/contract.h"
#include "server/facts/suite_baselines.h"

namespace ratchet {

/// The times that an imported problem's folder has of its suite's own. None where the folder is
/// gone, is on another machine than this server, or has none. Reads a file; thread-safe.
[[nodiscard]] std::vector<SuiteBaseline> suite_baselines_of(const Roots& roots,
                                                            const Contract& contract);

}  // namespace ratchet
