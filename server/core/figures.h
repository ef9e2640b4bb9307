#pragma once

#include <string>

namespace ratchet {

// Measured numbers as words: three significant digits, which is more than a measurement holds. All
// digits are in structured content and in the ledger. Pure.

/// "0.0421", "35.6", "12300", "4.41e6".
[[nodiscard]] std::string three_digits(double value);

/// "534 µs": nanoseconds with the unit that leaves one to three digits before the point.
[[nodiscard]] std::string time_text(double ns);

}  // namespace ratchet
