#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "server/runs/records/search_entry.h"

namespace ratchet {

/// Indices of the branches that are confirmed against the incumbent: the two that screened fastest,
/// best first. Only correct and timed ones. Pure.
[[nodiscard]] std::vector<std::size_t> finalists(const std::vector<BranchResult>& branches);

/// Fills `status`, `champion` and `decision` from the measurements. The champion is a confirmed
/// branch that is faster than the incumbent beyond the noise; of two whose intervals overlap, the
/// one that changes fewer lines. Pure.
void decide(BranchesFact& fact);

/// Lines that differ between two texts: what is not in the longest common subsequence of their
/// lines. Pure; of texts beyond 4,000 lines the difference of line multisets.
[[nodiscard]] int diff_lines(std::string_view a, std::string_view b);

}  // namespace ratchet
