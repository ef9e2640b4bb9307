#pragma once

#include "kernels/worker/device.h"

namespace ratchet::test {

/// Gives the same three arenas to the judge on the GPU and to compare.cpp, for every type, and
/// reports where they disagree: [{"case", "passed", "differs": [field…]}]. `entry`: the entry of
/// the library built from kernels/cuda/judge.cu.
[[nodiscard]] Json compare_judges(worker::Device& device, void* entry);

}  // namespace ratchet::test
