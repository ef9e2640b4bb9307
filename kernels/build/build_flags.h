#pragma once

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/types.h"

namespace ratchet {

/// Rejects extra compiler flags that could load plugins, read or write files, or reach the linker.
///
/// Accepted by g++ and hipcc: -O…, -f… (no plugins, dumps, profiles, sanitizers), -m…; by nvcc:
/// --use_fast_math, --maxrregcount=N, --expt-*, --extended-lambda, --ftz=, --fmad=, --prec-div=,
/// --prec-sqrt=, -Xptxas X, -l of CUDA libraries; by all: -D, -U, -W…, -std=c++NN.
///
/// Pure. Error: `invalid_argument` naming the flag and what is accepted.
[[nodiscard]] Status check_flags(const std::vector<std::string>& flags, Language language);

/// The libraries that -l flags name.
[[nodiscard]] std::vector<std::string> linked_libraries(const std::vector<std::string>& flags);

}  // namespace ratchet
