#pragma once

// Plots of a run as inline SVG. Colors are classes of the page's style sheet, which has a light and
// a dark scheme. Pure; empty if there is nothing to draw.

#include <string>

#include "server/runs/ledger/run_state.h"

namespace ratchet::plots {

/// Median time of every version with its interval.
[[nodiscard]] std::string timeline(const RunState& state);

/// The path of the versions under the measured roofs, or bars with the fraction of the roof if no
/// arithmetic intensity is known.
[[nodiscard]] std::string roofline(const RunState& state);

/// Stall reasons of a version's longest kernel.
[[nodiscard]] std::string stalls(const VersionState& version);

/// The time that each ablated method saves, with its interval.
[[nodiscard]] std::string attribution(const VersionState& version);

}  // namespace ratchet::plots
