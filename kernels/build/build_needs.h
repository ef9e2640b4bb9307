#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/contract.h"

namespace ratchet {

/// What a source requires from the compiler without stating it in flags.
struct BuildNeeds {
  std::vector<std::string>
      libraries;  ///< cublas, cuda, …: those whose headers or functions it uses
  std::optional<std::string> standard;  ///< "c++20"; empty: the default suffices
  bool exact_arch =
      false;  ///< uses instructions that exist only in the `a` variants of 9.0 and later
  bool cuda_types = false;       ///< a C++ source that uses types of the toolkit
  bool cutlass = false;          ///< CUTLASS or CuTe
  bool device_launches = false;  ///< kernels that launch kernels
};

/// Derived from tokens and include lines. Pure.
[[nodiscard]] BuildNeeds build_needs(std::string_view text);

struct LocalHeader {
  std::filesystem::path path;  ///< canonical
  std::string text;
};

/// The headers that a source includes, directly or not, and may (build_headers.h), found by their
/// include lines. Reads files; those that cannot be read are left to the compiler. At most 64 files
/// and 4 MiB.
[[nodiscard]] std::vector<LocalHeader> local_headers(const Source& source);

/// The source followed by its local headers; input of `build_needs` and of the check for exact
/// architectures.
[[nodiscard]] std::string with_local_headers(const Source& source);

/// Whether `text` includes only `<…>` headers by plain names. Anything that could reach another
/// file (quotes, macros, other directives, spliced or alternatively spelled ones) makes it false.
/// Pure.
[[nodiscard]] bool reads_toolkit_alone(std::string_view text);

/// `arch` with the `a` suffix where needed: sm_90 → sm_90a. Other names are unchanged.
[[nodiscard]] std::string exact_arch(const std::string& arch, const BuildNeeds& needs);

}  // namespace ratchet
