#pragma once

#include <vector>

#include "server/facts/findings.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// Everything that keeps the open version from passing to the next, all at once; empty: it may
/// pass. `disk` is what `disk::inspect` found, `chain` the first break of the ledger. Pure.
[[nodiscard]] std::vector<Reason> transition_reasons(const RunState& state,
                                                     const std::vector<Reason>& disk,
                                                     const std::optional<Reason>& chain);

/// The same for the final gate: every version again, and that the last one is open. The last
/// version needs no hypothesis.
[[nodiscard]] std::vector<Reason> final_reasons(const RunState& state,
                                                const std::vector<Reason>& disk,
                                                const std::optional<Reason>& chain);

}  // namespace ratchet
