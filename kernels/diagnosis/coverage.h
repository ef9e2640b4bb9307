#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kernels/diagnosis/diagnosis.h"

namespace ratchet {

/// Which part of a call its counters speak about.
struct Coverage {
  std::size_t counted = 0;   ///< kernels
  std::size_t launched = 0;  ///< kernels, of which these are
  double time = 0;           ///< share of the kernels' time, 0..1

  /// "counters of 3 of 4 kernels, 78 % of the time".
  [[nodiscard]] std::string text() const;
  /// What is not counted may be what limits the call: no certainty, and none at all where that is
  /// more than a quarter.
  [[nodiscard]] Confidence at_most() const;
  /// Below, the counted rest says nothing about the call.
  [[nodiscard]] bool decides() const;
};

/// A kernel is counted if its time and the work of its multiprocessors are known.
[[nodiscard]] bool is_counted(const KernelCounters& kernel);

/// Empty if all of the call's kernels were counted, or none. A launch that was not counted is as
/// good as counted if one of the same kernel with as many blocks was. Pure.
[[nodiscard]] std::optional<Coverage> coverage_of(const DiagnosisInput& input);

}  // namespace ratchet
