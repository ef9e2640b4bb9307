#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/diagnosis/verification.h"
#include "kernels/lab/lab_parts.h"

namespace ratchet {

/// What other conditions do to a kernel's time, without a change of its source: caches that hold
/// its data, indices in order, half of one dim. Each is timed in paired rounds against the kernel
/// as it is.
class Interventions {
 public:
  Interventions(LabParts& lab, const Contract& contract, ArenaSource& source, std::string secret,
                const CallContext& call)
      : lab_(lab), contract_(contract), source_(source), secret_(std::move(secret)), call_(call) {}

  /// `process`: the candidate's, which runs. The source has room for one more. An intervention
  /// under which the kernel fails, or which its contract has no place for, is left out.
  Result<std::vector<Intervention>> measure(const Candidate& candidate, CandidateProcess& process,
                                            const DeviceInfo& device, const SessionPlan& plan);

 private:
  /// A condition to change.
  struct Change {
    std::string what;
    ArenaPlan arenas;
    CacheMode cache_mode = CacheMode::cold;
  };

  [[nodiscard]] std::vector<Change> changes(const DeviceInfo& device) const;
  Result<Intervention> time(const Change& change, CandidateProcess& plain, CandidateProcess& other,
                            const SessionPlan& plan);

  LabParts& lab_;
  const Contract& contract_;
  ArenaSource& source_;
  std::string secret_;
  const CallContext& call_;
};

}  // namespace ratchet
