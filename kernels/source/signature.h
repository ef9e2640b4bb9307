#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// The entry function of a C++ or CUDA source, as it is written there.
struct Signature {
  std::string entry;
  std::vector<Parameter>
      parameters;                  ///< in order; integers are `dim`, float, double, bool `scalar`
  bool extern_c = false;           ///< false: only `declaration_header` gives it C linkage
  std::vector<std::string> notes;  ///< what was assumed, for people
  std::vector<std::string> types;  ///< C++ spelling of each parameter, without its name
  std::string exception;           ///< "noexcept" where it is written so
  bool device = false;             ///< a `__global__` function
};

/// How a source is to be read.
struct Dialect {
  bool cuda = true;                ///< compiled by nvcc: decides which branches of `#if` count
  std::vector<std::string> flags;  ///< their -D and -U, likewise
  bool device_entry = false;       ///< the entry is a `__global__` function
};

/// Finds `void <entry>(...)` in `source` and reads its parameters.
///
/// Works on tokens, not on text: comments, string literals, branches of `#if` that do not hold,
/// calls inside bodies, other functions, templates and class members are not looked at.
/// `extern "C" {` blocks, attributes, `__restrict__`, arrays (`float x[]`), prototypes before the
/// definition, C++ overloads beside an `extern "C"` entry, and simple aliases (`using`, `typedef`,
/// `#define` of a type or of `extern "C"`) are understood. Included headers are not read: the build
/// puts `declaration_header` before the source, so that the compiler finds what was misread.
///
/// Accepted parameters:
///   pointers  float, double, half (__half), nv_bfloat16 (__nv_bfloat16), __nv_fp8_e4m3,
///             __nv_fp8_e5m2, bool, char, short, int, long, long long (signed, unsigned),
///             int8_t … uint64_t, size_t
///   values    the integer types above, bool, float, double, cudaStream_t
/// Pure and thread-safe. Errors (`invalid_argument`): not found, found only as a `__global__`
/// kernel, static, inline, or in a namespace without extern "C"; a parameter that cannot be read.
/// The message quotes the offending text; the hint lists the accepted forms, or names the functions
/// that could be the entry.
[[nodiscard]] Result<Signature> parse_signature(std::string_view source, std::string_view entry,
                                                const Dialect& dialect = {});

/// The `__global__` functions that a source defines at namespace scope, templates left out. Pure.
[[nodiscard]] std::vector<std::string> kernel_names(std::string_view source);

/// The text of the generated `solve.h`: declares the entry `extern "C"` with its exact types. A
/// source that defines it otherwise does not compile.
[[nodiscard]] std::string declaration_header(const Signature& signature);

/// The accepted parameter forms in one line, for hints.
[[nodiscard]] std::string_view accepted_parameters();

}  // namespace ratchet
