#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/profile.h"

namespace ratchet {

/// What Nsight Compute wrote as CSV, read back. One entry a launch, in its order, never merged.
struct NcuReport {
  enum class Page { raw, details };

  Page page = Page::raw;
  std::vector<KernelCounters> kernels;
  std::vector<std::string> unavailable;  ///< metrics that have no value ("n/a") in any launch
  std::vector<std::string> not_numbers;  ///< metrics with other texts, such as names of policies
};

/// Reads `--csv` output of the raw page (a column a metric, units in the second row) and of the
/// details page (a row a metric). Lines in front of the table, such as a program's own output, are
/// passed over.
///
/// Values come in base units under the names that counters have in a Profile: nanoseconds, bytes,
/// counts, per cent, per second. Rows of the details page carry labels for people: those whose
/// metric is known get its name, others keep "Section: label". Kernel names lose their parameters.
///
/// Pure and thread-safe. Errors: `invalid_argument` for a text that holds no such table, or one
/// that is cut off or damaged, with the line.
[[nodiscard]] Result<NcuReport> read_ncu_csv(std::string_view text);

/// A number as ncu prints it: "1,234,567.89", "12", "-0.5", "1e+06". Empty for anything else.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

/// By what to multiply a value in this unit to get the base unit: 1e6 for "ms" (ns), 1e3 for
/// "Kbyte/block", 1 for units that have no larger form.
[[nodiscard]] double ncu_unit_factor(std::string_view unit);

}  // namespace ratchet
