#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/core/result.h"
#include "server/facts/profile.h"

namespace ratchet {

// Runs Nsight Compute: the command that wraps a worker, and reading its reports.

/// The report and the log that `ncu_command` writes into its working folder.
inline constexpr const char* kNcuReport = "profile.ncu-rep";
inline constexpr const char* kNcuLog = "ncu.log";

/// The arguments that precede a worker's own: profile every launch at the current clocks, with
/// flushed caches, these metrics and the set's sections.
[[nodiscard]] std::vector<std::string> ncu_command(const FoundProgram& ncu, MetricSet set,
                                                   const std::vector<std::string>& metrics);

/// Explains from ncu's log why there is no report, and what to do.
[[nodiscard]] std::string ncu_trouble(const std::string& log);

/// The raw page of a report as CSV with base units. The report is untrusted: ncu reads a copy in a
/// private folder, with a deadline and limits; `name` is its name in messages. Errors:
/// `unavailable` without ncu; `invalid_argument` with ncu's message if it cannot read the report;
/// `timed_out` when `stop` was requested.
[[nodiscard]] Result<std::string> ncu_raw_page(std::string_view report, const std::string& name,
                                               const Toolchain& toolchain,
                                               const std::stop_token& stop);

/// "ncu 2025.3.1".
[[nodiscard]] std::string ncu_name(const FoundProgram& ncu);

/// The error for a missing ncu.
[[nodiscard]] Error ncu_missing();

}  // namespace ratchet
