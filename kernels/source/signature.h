#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// The entry function of a C++ or CUDA source, as declared there.
struct Signature {
  std::string entry;
  std::vector<Parameter>
      parameters;                  ///< in order; integers are `dim`, float, double, bool `scalar`
  bool extern_c = false;           ///< false: only `declaration_header` gives it C linkage
  std::vector<std::string> notes;  ///< assumptions made, for the user
  std::vector<std::string> types;  ///< C++ spelling of each parameter, without its name
  std::string exception;           ///< "noexcept" if declared so
  bool device = false;             ///< a `__global__` function
};

/// How to read a source.
struct Dialect {
  Language language = Language::cuda;  ///< its compiler decides which `#if` branches are active
  std::vector<std::string> flags;      ///< their -D and -U options decide it too
  bool device_entry = false;           ///< the entry is a `__global__` function
};

/// Finds `void <entry>(...)` in `source` and reads its parameters.
///
/// Works on tokens, not text. Comments, string literals, inactive `#if` branches, calls inside
/// bodies, other functions, templates and class members are ignored. It understands `extern "C" {`
/// blocks, attributes, `__restrict__`, arrays (`float x[]`), prototypes before the definition, C++
/// overloads beside an `extern "C"` entry, and simple aliases (`using`, `typedef`, `#define` of a
/// type or of `extern "C"`). Included headers are not read: the build puts `declaration_header`
/// before the source, so the compiler detects anything misread here.
///
/// Accepted parameters:
///   pointers  float, double, half (__half), nv_bfloat16 (__nv_bfloat16), __nv_fp8_e4m3,
///             __nv_fp8_e5m2, bool, char, short, int, long, long long (signed, unsigned),
///             int8_t … uint64_t, size_t
///   values    the integer types above, bool, float, double, cudaStream_t, hipStream_t
///
/// Pure and thread-safe. Errors (`invalid_argument`): not found, found only as a `__global__`
/// kernel, static, inline, or in a namespace without extern "C"; a parameter that cannot be read.
/// The message quotes the offending text; the hint lists the accepted forms, or names the functions
/// that could be the entry.
[[nodiscard]] Result<Signature> parse_signature(std::string_view source, std::string_view entry,
                                                const Dialect& dialect = {});

/// The line on which `entry` is first declared or defined, counted from 1; 0 if it is not there. As
/// the text is written: macros are not expanded. Pure.
[[nodiscard]] int line_of_entry(std::string_view source, std::string_view entry);
/// "kernel.cpp:12: " for messages about the entry of a source, or "kernel.cpp: ".
[[nodiscard]] std::string place_of_entry(const Source& source, std::string_view entry);

/// How the parameters of `entry` differ from those of `other`, by the first that does.
[[nodiscard]] std::string parameter_difference(const std::string& entry,
                                               const std::vector<Parameter>& seen,
                                               const std::string& other,
                                               const std::vector<Parameter>& wanted);

/// The `__global__` functions that a source defines at namespace scope, except templates. Pure.
[[nodiscard]] std::vector<std::string> kernel_names(std::string_view source);

/// The text of the generated `solve.h`, which declares the entry `extern "C"` with its exact types.
/// A source that defines it differently does not compile.
[[nodiscard]] std::string declaration_header(const Signature& signature,
                                             Language language = Language::cuda);

/// The accepted parameter forms on one line, for hints.
[[nodiscard]] std::string_view accepted_parameters();

}  // namespace ratchet
