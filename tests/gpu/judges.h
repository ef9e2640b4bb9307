#pragma once

#include "kernels/worker/device.h"

namespace ratchet::test {

/// Puts the same three arenas before the judge on the GPU and before compare.cpp, for every type,
/// and tells where they disagree: [{"case", "passed", "differs": [field…]}]. `entry`: of the
/// library built from kernels/cuda/judge.cu.
[[nodiscard]] Json compare_judges(worker::Device& device, void* entry);

}  // namespace ratchet::test
