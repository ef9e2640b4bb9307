#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet {

/// One record of comma-separated values and the line it begins on, counted from 1.
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

/// Reads RFC 4180: cells may be quoted, hold commas and line breaks, and double their quotes. Empty
/// lines are left out. Pure. Errors: `invalid_argument` for a quote that is never closed.
[[nodiscard]] Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace ratchet
