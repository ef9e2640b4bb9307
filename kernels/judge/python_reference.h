#pragma once

#include <memory>

#include "kernels/judge/reference.h"

namespace ratchet {

/// A `reference(**kwargs)` in a Python process that runs python/reference.py and serves all cases
/// and seeds. Tensors are flat, or in the shapes of the contract, over the arena's own memory.
/// See `open_reference` for errors; a raised exception is named with the reference's line.
[[nodiscard]] Result<std::unique_ptr<Reference>> open_python_reference(const ReferenceParts& parts,
                                                                       const Contract& contract,
                                                                       const CallContext& call);

}  // namespace ratchet
