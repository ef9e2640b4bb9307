#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/facts/profile.h"

namespace ratchet {

/// A parsed CSV export of Nsight Compute. One entry per launch, in order, never merged.
struct NcuReport {
  enum class Page { raw, details };

  Page page = Page::raw;
  std::vector<KernelCounters> kernels;
  std::vector<std::string> unavailable;  ///< metrics without a value ("n/a") in any launch
  std::vector<std::string> not_numbers;  ///< metrics with other text values, such as policy names
};

/// Parses `--csv` output of the raw page (one column per metric, units in the second row) and of
/// the details page (one row per metric). Lines before the table, such as a program's own output,
/// are skipped.
///
/// Values are in base units under the names that counters have in a Profile: nanoseconds, bytes,
/// counts, per cent, per second. Rows of the details page have display labels: known metrics get
/// their name, others keep "Section: label". Kernel names lose their parameters.
///
/// Pure and thread-safe. Errors: `invalid_argument` for text without such a table, or with one that
/// is truncated or damaged, naming the line.
[[nodiscard]] Result<NcuReport> read_ncu_csv(std::string_view text);

/// A number as ncu prints it: "1,234,567.89", "12", "-0.5", "1e+06". Empty for anything else.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

/// The factor from this unit to the base unit: 1e6 for "ms" (ns), 1e3 for "Kbyte/block", 1 for
/// units without a larger form.
[[nodiscard]] double ncu_unit_factor(std::string_view unit);

}  // namespace ratchet
