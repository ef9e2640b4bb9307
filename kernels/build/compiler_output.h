#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/findings.h"

namespace ratchet {

/// What g++, nvcc, ptxas and ld said, taken apart. Lists and texts are capped.
struct CompilerOutput {
  std::vector<Diagnostic> warnings;
  std::vector<Diagnostic> errors;
  std::optional<int> registers;              ///< most of any kernel, as the three below
  std::optional<std::int64_t> shared_bytes;  ///< static shared memory
  std::optional<std::int64_t> stack_bytes;
  std::optional<std::int64_t> spill_bytes;  ///< stores plus loads
};

inline constexpr std::size_t kMaxDiagnostics = 20;
inline constexpr std::size_t kMaxDiagnosticText = 600;

/// Pure; never fails: what it does not understand it leaves out.
[[nodiscard]] CompilerOutput parse_compiler_output(std::string_view text);

/// The kind of failure and the way on.
struct FailureClass {
  std::string name;
  std::string hint;
};

/// Looks at the text of a failed build: missing_header, torch_headers, wrong_arch, too_much_shared,
/// unterminated_comment, signature_mismatch, cxx_standard, host_compiler, host_call_on_device,
/// removed_api, unresolved_symbol, unresolved_library, out_of_memory, else compile_error. Pure.
[[nodiscard]] FailureClass classify_failure(std::string_view text, const std::string& arch);

}  // namespace ratchet
