#pragma once

// Times that a suite's own checkout has of its baselines.

#include <string>
#include <string_view>

#include "server/core/field.h"

namespace ratchet {

/// A time as the suite published it: on its hardware, at its sizes, by its method. It is shown
/// beside what is measured, and never compared with it.
struct SuiteBaseline {
  std::string name;
  std::string hardware;
  double ms = 0;
  std::string source;  ///< path in the checkout
  std::string sizes;

  static constexpr void fields(auto&& visit) {
    using S = SuiteBaseline;
    visit(required<&S::name>("What the suite timed.", {.max_length = 120}),
          required<&S::hardware>("Where, in the suite's words.", {.max_length = 240}),
          required<&S::ms>("Its time, ms.", {.min = 0}),
          required<&S::source>("File in the suite's checkout.", {.max_length = 240}),
          required<&S::sizes>("At which sizes.", {.max_length = 120}));
  }
};

/// How a benchmark's note about such a time begins.
inline constexpr std::string_view kSuiteFigure =
    "theirs, not measured here and compared with nothing: ";

}  // namespace ratchet
