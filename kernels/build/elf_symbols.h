#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/types.h"

namespace ratchet {

/// An undefined symbol of a shared library.
struct ImportedSymbol {
  std::string name;
  std::string library;  ///< soname the linker bound it to, e.g. "libm.so.6"; empty when unversioned
};

/// What a shared library imports and exports.
struct DynamicSymbols {
  std::vector<ImportedSymbol> imported;
  std::vector<std::string> exported;
};

/// Reads the dynamic symbol table of a 64-bit little-endian ELF library. Pure; every offset is
/// checked against the size of `bytes`. Errors: `invalid_argument` for any other file.
[[nodiscard]] Result<DynamicSymbols> dynamic_symbols(std::string_view bytes);

/// The `symbols` that a kernel may not use: any not known to be harmless. CUDA and HIP may call
/// their runtimes; `libraries` are the names given by -l (cublas, …), whose functions are allowed
/// explicitly.
[[nodiscard]] std::vector<std::string> forbidden_symbols(const std::vector<ImportedSymbol>& symbols,
                                                         Language language,
                                                         const std::vector<std::string>& libraries);

}  // namespace ratchet
