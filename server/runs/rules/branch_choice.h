#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "server/runs/records/search_entry.h"

namespace ratchet {

/// The branches that are confirmed against the incumbent.
inline constexpr std::size_t kFinalists = 2;

/// Indices of these branches: the correct ones that screened fastest, best first. Pure.
[[nodiscard]] std::vector<std::size_t> finalists(const std::vector<BranchResult>& branches);

/// Fills `status`, `champion` and `decision` from the measurements. The champion is a confirmed
/// branch that is faster than the incumbent beyond the noise; of two whose intervals overlap, the
/// one that changes fewer lines. Pure.
void decide(BranchesFact& fact);

/// The number of lines outside the longest common subsequence of the lines of two texts. For texts
/// of more than 4,000 lines, the difference of their line multisets. Pure.
[[nodiscard]] int diff_lines(std::string_view a, std::string_view b);

}  // namespace ratchet
