#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet {

/// One record of comma-separated values and the number of its first line, from 1.
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

/// Parses RFC 4180: cells may be quoted, contain commas and line breaks, and double their quotes.
/// Empty lines are skipped. Pure. Errors: `invalid_argument` for an unclosed quote.
[[nodiscard]] Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace ratchet
