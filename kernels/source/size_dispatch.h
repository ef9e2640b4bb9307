#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A kernel that the dispatcher may call. `name` becomes part of identifiers: "v3".
struct Variant {
  std::string name;
  std::string_view text;
};

/// The variant that serves a case, by index.
struct Route {
  Dims dims;
  std::size_t variant = 0;
};

/// Generates one source with the contract's entry that holds all variants. Each call goes to the
/// variant of the nearest case, measured by the sum of the distances between the logarithms of the
/// dims. C++ and CUDA variants are placed in namespaces, with their includes before and their
/// macros undefined after them; Python variants become modules created from their texts.
///
/// Pure. Errors: `unavailable` for device-only kernels, since no host function exists to choose
/// between them, and for a contract without dims; any error of `parse_signature` for a variant.
[[nodiscard]] Result<std::string> dispatcher_source(const Contract& contract,
                                                    const std::vector<Variant>& variants,
                                                    const std::vector<Route>& routes,
                                                    std::size_t fallback);

}  // namespace ratchet
