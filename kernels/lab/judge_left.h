#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernels/judge/idle_judge.h"
#include "kernels/process/checked_processes.h"
#include "kernels/process/device_queue.h"
#include "kernels/process/endings.h"
#include "kernels/process/spare_workers.h"

namespace ratchet {

/// Processes beside those of a job: started or kept for jobs that follow, and those of the last
/// that end.
struct ProcessesAside {
  /// One part in so many of a GPU's memory, at most, is for them.
  static constexpr std::int64_t kShare = 4;

  SpareWorkers spares;
  CheckedProcesses checked;
  Endings endings;
};

/// After a job, for the next of the same terms: these, judge and reference if they may go on, and
/// what is aside.
struct JudgeLeft final : DeviceQueue::Left {
  JudgeLeft(std::string of, IdleJudge with, ProcessesAside and_aside = {})
      : terms(std::move(of)), judge(std::move(with)), aside(std::move(and_aside)) {}

  std::string terms;
  IdleJudge judge;
  ProcessesAside aside;
};

/// What the job before left, if that job was of these terms.
[[nodiscard]] inline JudgeLeft* left_with(const std::unique_ptr<DeviceQueue::Left>& left,
                                          const std::string& terms) {
  auto* const last = dynamic_cast<JudgeLeft*>(left.get());
  return last && last->terms == terms ? last : nullptr;
}

}  // namespace ratchet
