#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kernels/judge/idle_judge.h"
#include "kernels/process/device_queue.h"

namespace ratchet {

/// After a task's validation or a check, for the next of the same terms: these, and judge and
/// reference if they may go on.
struct JudgeLeft final : DeviceQueue::Left {
  JudgeLeft(std::string of, IdleJudge with) : terms(std::move(of)), judge(std::move(with)) {}

  std::string terms;
  IdleJudge judge;
};

/// What the job before left, if that job was of these terms.
[[nodiscard]] inline JudgeLeft* left_with(const std::unique_ptr<DeviceQueue::Left>& left,
                                          const std::string& terms) {
  auto* const last = dynamic_cast<JudgeLeft*>(left.get());
  return last && last->terms == terms ? last : nullptr;
}

}  // namespace ratchet
