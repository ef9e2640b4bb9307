#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/build/toolchain.h"
#include "server/core/result.h"
#include "server/facts/profile.h"

namespace ratchet {

// Nsight Compute as a program: how it is started around a worker, and its reports read back.

/// The report that `ncu_command` has it write into the folder it is started in, and its own
/// messages.
inline constexpr const char* kNcuReport = "profile.ncu-rep";
inline constexpr const char* kNcuLog = "ncu.log";

/// The words that stand in front of a worker's own: every launch of it, at the clocks as found, on
/// flushed caches, with these metrics and the sections of the set.
[[nodiscard]] std::vector<std::string> ncu_command(const FoundProgram& ncu, MetricSet set,
                                                   const std::vector<std::string>& metrics);

/// What ncu's messages say when there is no report: what to do about it.
[[nodiscard]] std::string ncu_trouble(const std::string& log);

/// The raw page of a report as CSV with base units. The report may be anybody's: ncu reads it in a
/// private folder, with a deadline and limits.
/// Errors: `unavailable` without ncu; `invalid_argument` when it cannot read the file, with its
/// words; `timed_out` when `stop` asked for the end.
[[nodiscard]] Result<std::string> ncu_raw_page(const std::filesystem::path& report,
                                               const Toolchain& toolchain,
                                               const std::stop_token& stop);

/// "ncu 2025.3.1".
[[nodiscard]] std::string ncu_name(const FoundProgram& ncu);

/// What to do where ncu is missing.
[[nodiscard]] Error ncu_missing();

}  // namespace ratchet
