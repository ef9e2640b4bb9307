#pragma once

#include <memory>

#include "kernels/judge/reference.h"

namespace ratchet {

/// A `reference(**kwargs)` in a Python process that runs python/reference.py and serves all cases
/// and seeds. Tensors are views of the arena's own memory, flat or in the contract's shapes. See
/// `open_reference` for errors; a raised exception is reported with the reference's line.
[[nodiscard]] Result<std::unique_ptr<Reference>> open_python_reference(const ReferenceParts& parts,
                                                                       const Contract& contract,
                                                                       const CallContext& call);

}  // namespace ratchet
