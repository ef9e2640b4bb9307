#pragma once

#include <string_view>

namespace ratchet {

/// What halves the resident blocks of every kernel that a CUDA source launches in several waves: a
/// function for the linker to put in the place of `kLaunchFunction`, to be compiled with the
/// source. It asks for as much dynamic shared memory as that takes, and refuses a launch that it
/// cannot give it. A launch stays as it is if less than two blocks fit on a multiprocessor, if the
/// blocks come in less than two waves, as they may wait for each other then, or in clusters.
inline constexpr std::string_view kLaunchFunction = "cudaLaunchKernel";
[[nodiscard]] std::string_view fewer_blocks_code();

/// What makes `<<<…>>>` call `kLaunchFunction` with the toolkits that have a faster way.
inline constexpr std::string_view kPlainLaunches = "__NV_LEGACY_LAUNCH";

}  // namespace ratchet
