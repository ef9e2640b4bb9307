#pragma once

#include <optional>
#include <string>

namespace ratchet::measure {

/// Returns and clears the last error of every other CUDA runtime loaded in this process.
///
/// A kernel library linked with the shared libcudart has its own copy of the runtime, and a
/// rejected launch (too much shared memory, too large a block) is recorded only there. Queries only
/// libraries that are already loaded, so it also works inside the sandbox.
[[nodiscard]] std::optional<std::string> take_error_of_other_runtimes();

}  // namespace ratchet::measure
