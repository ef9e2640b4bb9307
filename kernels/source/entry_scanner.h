#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/source/cpp_tokens.h"
#include "kernels/source/parameter_reader.h"

namespace ratchet {

// Finds the declarations at namespace scope that may be the entry function.

/// One declaration of the entry at namespace scope.
struct Occurrence {
  Tokens parameters;
  bool extern_c = false;
  bool definition = false;
  std::string exception;  ///< "noexcept" if declared so
  std::string problem;    ///< why it cannot be the entry; empty if it can
};

struct Declarations {
  std::vector<Occurrence> occurrences;  ///< of the entry
  Aliases aliases;                      ///< macros, `using` and `typedef`
  std::vector<std::string> others;      ///< other functions with C linkage defined here
  std::vector<std::string> kernels;     ///< `__global__` functions defined here
  bool unbalanced = false;  ///< a function body never ends: the text after it was not read
};

/// Skips function bodies; templates and class members cannot be entries. `device_entry`: look for a
/// `__global__` function instead of a host function. Pure, never fails.
[[nodiscard]] Declarations declarations_of(const TokenizedSource& source, std::string_view entry,
                                           bool device_entry);

}  // namespace ratchet
