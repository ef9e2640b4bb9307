#pragma once

#include <optional>
#include <string>

namespace ratchet::measure {

/// The last error of every other CUDA runtime loaded in this process, cleared by the call.
///
/// A kernel library linked with the shared libcudart has a runtime of its own, and a launch that
/// was refused (too much shared memory, a block too large) is remembered only there. Loads nothing:
/// it asks the libraries that are already in the process, so it also works inside a sandbox.
[[nodiscard]] std::optional<std::string> take_error_of_other_runtimes();

}  // namespace ratchet::measure
