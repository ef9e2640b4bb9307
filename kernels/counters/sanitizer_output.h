#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/sanitizer.h"

namespace ratchet {

inline constexpr std::size_t kMostSanitizerFindings = 50;

/// What one run of compute-sanitizer wrote.
struct SanitizerOutput {
  std::vector<SanitizerFinding> findings;  ///< merged by kind and place, in order of appearance
  int errors = 0;                          ///< of its summary; of the reports where there is none
  bool finished = false;                   ///< it came to its summary
  std::string trouble;                     ///< what it said about itself, such as a lost process
};

/// Reads the text form (each line after a prefix of nine `=`), of which only the first words of a
/// report and the places in it are relied upon: both forms of a place, `at f(...)+0x90 in a.cu:13`
/// and `at 0x90 in a.cu:13:f(...)`, are known. Frames of back traces are left out. Pure.
[[nodiscard]] SanitizerOutput parse_sanitizer_output(SanitizerTool tool, std::string_view text);

/// Errors before warnings, at most `kMostSanitizerFindings`; the rest is counted in `dropped`.
void cap_findings(SanitizerReport& report);

}  // namespace ratchet
