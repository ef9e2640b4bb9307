#pragma once

#include <map>
#include <optional>
#include <string>

#include "server/runs/records/search_entry.h"

namespace ratchet {

/// What an attribution rests on beside the timed builds.
struct AttributionContext {
  bool improved = false;  ///< the version is faster than its parent by its interval
  bool on_gpu = false;    ///< machine code can be asked for signatures
  std::map<std::string, std::string> signatures;  ///< verified, absent or unknown, by method
};

/// Fills `attribution` and `interaction_ns` from the builds of an ablation. Pure.
///
/// A method is `effective` when the kernel without it is slower beyond the noise and the version
/// itself is faster than its parent; `ineffective` when its absence does not show, or the version
/// gained nothing; `implementation_failed` when the machine code lacks it; else `inconclusive`:
/// the build without it broke or switched nothing off, the interval is too wide, or a signature
/// was never looked for.
void attribute(AblationFact& fact, const std::vector<std::string>& methods,
               const AttributionContext& context);

}  // namespace ratchet
