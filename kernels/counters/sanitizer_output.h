#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/sanitizer.h"

namespace ratchet {

inline constexpr std::size_t kMostSanitizerFindings = 50;

/// Parsed output of one compute-sanitizer run.
struct SanitizerOutput {
  std::vector<SanitizerFinding> findings;  ///< merged by kind and place, in order of appearance
  int errors = 0;         ///< from its summary, or the number of reports if there is none
  bool finished = false;  ///< it printed its summary
  std::string trouble;    ///< its messages about itself, such as a lost process
};

/// Parses the text form (each line prefixed with nine `=`). Relies only on the first words of a
/// report and the places in it; both place formats are known: `at f(...)+0x90 in a.cu:13` and `at
/// 0x90 in a.cu:13:f(...)`. Back-trace frames are skipped. Pure.
[[nodiscard]] SanitizerOutput parse_sanitizer_output(SanitizerTool tool, std::string_view text);

/// Errors before warnings, at most `kMostSanitizerFindings`; the rest are counted in `dropped`.
void cap_findings(SanitizerReport& report);

}  // namespace ratchet
