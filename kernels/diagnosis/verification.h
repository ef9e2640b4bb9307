#pragma once

#include <span>
#include <string>

#include "kernels/diagnosis/diagnosis.h"

namespace ratchet {

/// One condition of a call changed, not its source, and timed in paired rounds against the call as
/// it is. Shares of the time.
struct Intervention {
  std::string what;  ///< "warm caches", "indices in order", "n halved"
  double saved = 0;  ///< negative: it takes longer
  double low = 0;    ///< 95 % interval
  double high = 0;
};

/// A cause is confirmed if its removal saves at least the first share of the time, over the whole
/// interval, and not confirmed if it saves less than the second.
inline constexpr double kConfirmedFrom = 0.10;
inline constexpr double kNotConfirmedBelow = 0.05;

/// Holds findings against what other conditions did to the time. The evidence of each that an
/// intervention speaks about begins with "confirmed: warm caches save 41 % (39..43)", "not
/// confirmed: …" or "undecided: …". Confirmed findings come first, those that are not confirmed
/// last, and the class follows the first confirmed one. A fixed cost per call is confirmed if no
/// halved dim saves much. The evidence of the class ends with all interventions. Pure.
void verify(std::span<const Intervention> interventions, Diagnosis& diagnosis);

}  // namespace ratchet
