#pragma once

#include <vector>

#include "server/facts/findings.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// All reasons why the open version may not pass the gate; empty if it may. `disk` is the result of
/// `disk::inspect`, `chain` the first break of the ledger. Pure.
[[nodiscard]] std::vector<Reason> transition_reasons(const RunState& state,
                                                     const std::vector<Reason>& disk,
                                                     const std::optional<Reason>& chain);

/// The same for the final gate, which checks every version again and requires that the last one is
/// open. The last version needs no hypothesis.
[[nodiscard]] std::vector<Reason> final_reasons(const RunState& state,
                                                const std::vector<Reason>& disk,
                                                const std::optional<Reason>& chain);

}  // namespace ratchet
