#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/contract.h"

namespace ratchet {

/// What a source asks of the compiler without saying so in flags.
struct BuildNeeds {
  std::vector<std::string> libraries;   ///< cublas, cuda, …: those whose headers or calls it uses
  std::optional<std::string> standard;  ///< "c++20"; empty: the default will do
  bool exact_arch = false;  ///< instructions that exist only in the `a` variants of 9.0 and later
  bool cuda_types = false;  ///< a C++ source that uses the toolkit's types
  bool cutlass = false;     ///< CUTLASS or CuTe
  bool device_launches = false;  ///< kernels that launch kernels
};

/// Pure; looks at tokens and include lines.
[[nodiscard]] BuildNeeds build_needs(std::string_view text);

/// The source and the headers beside it that it includes, one behind the other: what `build_needs`
/// and the search for exact architectures look at. Reads files; those outside the source's folder
/// and those that cannot be read are left to the compiler. At most 64 files and 4 MiB.
[[nodiscard]] std::string with_local_headers(const Source& source);

/// Whether `text` includes nothing but `<…>` headers by plain names. Anything that could reach
/// another file (quotes, macros, other directives, spliced or respelt ones) makes it false. Pure.
[[nodiscard]] bool reads_toolkit_alone(std::string_view text);

/// `arch` with its `a` where it is needed: sm_90 → sm_90a. Other names stay as they are.
[[nodiscard]] std::string exact_arch(const std::string& arch, const BuildNeeds& needs);

}  // namespace ratchet
