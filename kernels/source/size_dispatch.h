#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A kernel that a dispatcher may call. `name` becomes part of identifiers: "v3".
struct Variant {
  std::string name;
  std::string_view text;
};

/// The variant that serves a case, by its index.
struct Route {
  Dims dims;
  std::size_t variant = 0;
};

/// One source with the contract's entry that holds all variants and calls, for each call, that of
/// the nearest case: the sum of the distances of its dims' logarithms decides. C++ and CUDA
/// variants stand in namespaces, with their includes before and their macros undone after them;
/// Python ones are modules made from their texts.
///
/// Pure. Errors: `unavailable` for device-only kernels, which no host function can choose from, and
/// for a contract without dims; what `parse_signature` says of a variant.
[[nodiscard]] Result<std::string> dispatcher_source(const Contract& contract,
                                                    const std::vector<Variant>& variants,
                                                    const std::vector<Route>& routes,
                                                    std::size_t fallback);

}  // namespace ratchet
