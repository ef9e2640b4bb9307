// How near an answer comes to the allowed errors.

#include <optional>

#include "kernels/judge/examiner.h"
#include "kernels/judge/judge.h"

namespace ratchet {

Result<double> strain_of(const std::function<Result<bool>(double)>& within, bool passed) {
  constexpr double kStep = 4;
  constexpr double kFar = 64;
  double factor = 1;
  while (passed ? factor > 1 / kFar : factor < kFar) {
    const double next = passed ? factor / kStep : factor * kStep;
    const auto is = within(next);
    if (!is) return is.error();
    if (passed && !*is) return factor;
    factor = next;
    if (!passed && *is) return factor;
  }
  return factor;
}

Result<bool> Judge::within(const Trial& trial, const MemoryFile& returned, const CallContext& call,
                           double factor) {
  if (check_) return true;
  auto verdict = compared(trial, returned, nullptr, nullptr, factor, call);
  if (!verdict) return verdict.error();
  return verdict->passed;
}

}  // namespace ratchet
