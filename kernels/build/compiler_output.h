#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/findings.h"

namespace ratchet {

/// Parsed output of g++, nvcc, ptxas, hipcc and ld. Lists and texts are capped.
struct CompilerOutput {
  std::vector<Diagnostic> warnings;
  std::vector<Diagnostic> errors;
  std::optional<int> registers;              ///< maximum over the kernels, as are the three below
  std::optional<std::int64_t> shared_bytes;  ///< static shared memory
  std::optional<std::int64_t> stack_bytes;
  std::optional<std::int64_t> spill_bytes;  ///< stores plus loads
};

inline constexpr std::size_t kMaxDiagnostics = 20;
inline constexpr std::size_t kMaxDiagnosticText = 600;

/// Pure; never fails: lines it does not recognize are ignored.
[[nodiscard]] CompilerOutput parse_compiler_output(std::string_view text);

/// The hint for a header that a source may not include.
inline constexpr std::string_view kReadableHeaders =
    "A source may include headers beside it, headers of its git repository, the toolkit's and the "
    "system's: copy the header beside the source.";

/// The class of a compiler that had too little memory, whether it or its end says so.
inline constexpr std::string_view kOutOfMemory = "out_of_memory";

/// The kind of failure and a hint how to proceed.
struct FailureClass {
  std::string name;
  std::string hint;
};

/// Classifies the output of a failed build: forbidden_include, missing_header, torch_headers,
/// wrong_arch, too_much_shared, unterminated_comment, signature_mismatch, cxx_standard,
/// host_compiler, host_call_on_device, removed_api, unresolved_symbol, unresolved_library,
/// out_of_memory, else compile_error. Pure.
[[nodiscard]] FailureClass classify_failure(std::string_view text, const std::string& arch);

}  // namespace ratchet
