#pragma once

#include <memory>
#include <string>

#include "kernels/judge/device_trials.h"
#include "kernels/judge/judge.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Judge and reference between two jobs, without a candidate: one of both ways, or neither.
struct IdleJudge {
  std::unique_ptr<DeviceTrials> on_device;
  std::unique_ptr<Judge> by_files;

  explicit operator bool() const { return on_device || by_files; }
};

/// Judge and reference of a contract, ready to be asked, with room for a candidate on the device.
/// Errors: as DeviceTrials and Judge.
[[nodiscard]] Result<IdleJudge> open_idle_judge(const ReferenceParts& parts,
                                                const Contract& contract, const CallContext& call);

/// The processes that it starts, as far as the contract tells.
[[nodiscard]] JudgeSpecs judge_specs(const ReferenceParts& parts, const Contract& contract);

/// What judge and reference depend on: contracts with equal terms can share them, one after the
/// other. The kernel is no part of it, unless it makes the inputs. Pure.
[[nodiscard]] std::string judge_terms(Contract contract);

}  // namespace ratchet
