#pragma once

#include <string>
#include <vector>

#include "kernels/timing/timing_session.h"
#include "server/facts/contract.h"

namespace ratchet {

/// How contestants compare when calls follow each other and nothing is flushed, as in a program
/// that calls the kernel all the time: caches keep what fits, and the clock is what power and heat
/// leave. On a GPU the device still waits some tens of µs between two calls.
///
/// Lines for a report, beside the session with cold caches: the candidate's time; of every other
/// one its time and the speed-up over it; and where one mode calls the candidate faster and the
/// other slower, that. `plan`: of the sustained session. Contestants with reasons in either are
/// left out. Pure.
[[nodiscard]] std::vector<std::string> sustained_notes(const SessionRecord& cold,
                                                       const SessionRecord& sustained,
                                                       const SessionPlan& plan, const Dims& dims);

/// The plan of a sustained session after the cold one of this plan: a second at most.
[[nodiscard]] SessionPlan sustained_plan(SessionPlan cold);

}  // namespace ratchet
