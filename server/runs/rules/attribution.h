#pragma once

#include <map>
#include <string>

#include "server/runs/records/search_entry.h"

namespace ratchet {

/// The inputs of an attribution besides the timed builds.
struct AttributionContext {
  bool improved = false;  ///< the version is faster than its parent by its interval
  bool on_gpu = false;    ///< the machine code can be searched for signatures
  std::map<std::string, std::string> signatures;  ///< verified, absent or unknown, by method
};

/// Fills `attribution` and the interaction from the builds of an ablation, all from comparisons
/// with the whole kernel in one session, whose intervals hold together. Pure.
///
/// What a method contributes alone, and the interaction, are differences of several builds: of each
/// round, then their median with its 95 % interval, as rounds are the units of all intervals. Taken
/// from the intervals of the builds they would be three to four times as wide. Without rounds (a
/// lab of an earlier version) they are taken so.
///
/// A method is `effective` if the kernel without it is slower beyond the noise and the version is
/// faster than its parent; `ineffective` if removing it surely costs less than 1 % or the version
/// gained nothing; `implementation_failed` if the machine code does not show it; otherwise
/// `inconclusive`: the build without it failed or changed nothing, the interval is too wide, or no
/// signature was searched for.
void attribute(AblationFact& fact, const std::vector<std::string>& methods,
               const AttributionContext& context);

}  // namespace ratchet
