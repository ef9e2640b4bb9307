#pragma once

// Where the wall time of a call went, step by step.

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// A step of a call and how long it took. docs/measuring.md says what each does.
struct SpentStep {
  std::string step;
  double ms = 0;
  /// The step that it is a part of, beside others: such parts overlap, and add up to no whole.
  std::optional<std::string> within{};

  static constexpr void fields(auto&& visit) {
    using S = SpentStep;
    visit(required<&S::step>(), required<&S::ms>(), optional<&S::within>());
  }
};

/// In the order in which they began.
using Spent = std::vector<SpentStep>;

/// "spent: preparing 2.12 s (compiling 1.93 s, probing 0.4 s), freezing 0.031 s" and a line's end,
/// without the shortest.
[[nodiscard]] std::string spent_line(const Spent& spent);

/// Takes the time of one step after the other. For one thread.
class Stopwatch {
 public:
  /// The step before ends.
  void begin(std::string step);
  /// Steps that were timed elsewhere; the step before ends.
  void add(Spent steps);
  /// The last step ends.
  [[nodiscard]] Spent stop();

 private:
  void end();

  Spent spent_;
  std::optional<std::string> step_;  ///< the one that goes on
  std::chrono::steady_clock::time_point since_;
};

}  // namespace ratchet
