#pragma once

#include <span>
#include <vector>

#include "kernels/diagnosis/diagnosis.h"
#include "kernels/lab/lab_parts.h"
#include "kernels/process/candidate_process.h"
#include "kernels/timing/timed_arenas.h"
#include "server/facts/spent.h"

namespace ratchet {

/// An idle process for counters, the code to load into it, the arenas to call it on, who takes the
/// time, and where the launches go.
struct Counting {
  CandidateProcess& process;
  const CandidateProcess::Code& code;
  TimedArenas& arenas;
  Stopwatch& watch;
  std::vector<LaunchTime>& launched;
};

/// Reads the counters of a version that was timed, and what observing its launches shows. What
/// cannot be counted makes the profile `degraded`. Errors: those of a worker that cannot go on.
Status count(LabParts& lab, const Contract& contract, const ProfileRequest& request,
             const Counting& counting, Profile& profile, const CallContext& call);

/// Places what was timed and counted under the device's roofs, and says what limits it.
Result<Diagnosis> diagnose_profile(LabParts& lab, const Contract& contract,
                                   const ProfileRequest& request, const DeviceInfo& device,
                                   std::span<const LaunchTime> launched, Profile& profile,
                                   const CallContext& call);

}  // namespace ratchet
