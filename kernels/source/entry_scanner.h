#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/source/cpp_tokens.h"
#include "kernels/source/parameter_reader.h"

namespace ratchet {

// What a source declares at namespace scope, as far as it concerns an entry function.

/// One place where the entry is declared at namespace scope.
struct Occurrence {
  Tokens parameters;
  bool extern_c = false;
  bool definition = false;
  std::string exception;  ///< "noexcept" where it is written so
  std::string problem;    ///< why it cannot be the entry; empty when it can
};

struct Declarations {
  std::vector<Occurrence> occurrences;  ///< of the entry
  Aliases aliases;                      ///< macros, `using` and `typedef`
  std::vector<std::string> others;      ///< further functions with C linkage that are defined here
  std::vector<std::string> kernels;     ///< `__global__` functions that are defined here
  bool unbalanced = false;              ///< a body never ends: what follows it was not looked at
};

/// Bodies are skipped whole; templates and class members are no entries. `device_entry`: the entry
/// is a `__global__` function and not one of the host. Pure, never fails.
[[nodiscard]] Declarations declarations_of(const TokenizedSource& source, std::string_view entry,
                                           bool device_entry);

}  // namespace ratchet
