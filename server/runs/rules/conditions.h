#pragma once

// Conditions such as `speedup >= 3`, by themselves or within prose. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

struct Condition {
  std::string name;
  std::string op;  ///< >= <= > < ==
  double bound = 0;

  [[nodiscard]] bool holds(double value) const;
  /// "speedup >= 3"
  [[nodiscard]] std::string text() const;
};

/// Empty unless `op` is an operator and `bound` is a number and nothing else.
[[nodiscard]] std::optional<Condition> condition_of(const std::string& name, const std::string& op,
                                                    const std::string& bound);

/// What a text asks of measured quantities. Words without an operator are prose, and are skipped.
struct Conditions {
  std::vector<Condition> all;
  /// What has an operator and cannot be read, such as "time < 2 ms" of another unit than its name.
  std::vector<std::string> unreadable;
};

/// `≥` and `≤` are read as `>=` and `<=`; a number may be followed by `x`, and after a name that
/// ends in `_ns` by a unit of time.
[[nodiscard]] Conditions conditions_within(std::string_view prose);

}  // namespace ratchet
