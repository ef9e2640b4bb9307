#pragma once

#include <cstddef>
#include <vector>

#include "bench/statistics/former.h"
#include "kernels/timing/timing_session.h"

namespace ratchet::bench {

/// A session of two within the recording of a longer one.
struct Replayed {
  Comparison compared;
  double ms = 0;  ///< how long it would have taken
};

/// The rounds of contestants `one` and `other`, cut into one session of this plan after the other:
/// each ends, and is judged, by the product's own functions, and the next begins with the round
/// after. The last one may end early, as if its time were up.
[[nodiscard]] Result<std::vector<Replayed>> replayed(const SessionRecord& recording,
                                                     const SessionPlan& plan, std::size_t one,
                                                     std::size_t other);

/// The same rounds cut into sessions of the former rules.
[[nodiscard]] std::vector<FormerEnd> replayed_formerly(const SessionRecord& recording,
                                                       const SessionPlan& plan, std::size_t one,
                                                       std::size_t other);

}  // namespace ratchet::bench
