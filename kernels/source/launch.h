#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/source/signature.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// Device-only kernels: sources with a `__global__` function and no host function. The launch
// configuration comes from the contract, or from a line of the source, which each version carries:
//
//   // launch: grid = ceil_div(n, 1024), rows; block = 256; shared = 4 * 256
//
// Pure and thread-safe. Errors: `invalid_argument` naming the part and the rule.

/// The `// launch:` line of a source; empty if it has none.
[[nodiscard]] Result<std::optional<Launch>> launch_line(std::string_view source);

/// Checks that a device can execute the launch: every expression evaluates for these dims, a block
/// has at most 1024 threads, a grid at most 2^31-1 × 65535 × 65535 blocks.
[[nodiscard]] Status check_launch(const Launch& launch, const Dims& dims);

/// A host function in C++ with the kernel's name and parameters, followed by one `long long` for
/// each of `more_dims`. It launches the kernel in `kImageFile` on the default stream and is linked
/// with the CUDA runtime.
inline constexpr const char* kImageFile = "kernel.fatbin";
[[nodiscard]] std::string launch_stub(const Launch& launch, const Signature& kernel,
                                      const std::vector<std::string>& more_dims);

/// Assembler source that embeds `kImageFile` under the symbol the host function uses, in the
/// section where the toolkit's programs look for device code.
[[nodiscard]] std::string image_source();

}  // namespace ratchet
