// What a kernel would leave that only applied a control, on a device.

#include <cstddef>
#include <optional>
#include <utility>

#include "kernels/worker/controls.h"
#include "kernels/worker/cuda/device_judge.h"

namespace ratchet::worker {

Result<bool> CudaJudge::forge_output(wire::Control control, std::size_t buffer) {
  const auto& output = layout_.buffers[buffer];
  std::byte* const to = returned_.data() + output.offset;
  const auto bytes = static_cast<std::size_t>(output.bytes());
  const auto done = [](const Status& status) -> Result<bool> {
    if (!status) return status.error();
    return true;
  };
  switch (control) {
    case wire::Control::zero:
      return done(measure::queue_clear(to, bytes));
    case wire::Control::constant:
      if (firsts_before_.size() != layout_.buffers.size()) return false;
      run({Operation::elements, word(to), output.elements, size_of(output.dtype),
           static_cast<long long>(firsts_before_[buffer])});
      return true;
    case wire::Control::identity: {
      const auto* const input = like_output(layout_, output);
      if (!input) return false;
      return done(measure::queue_copy(to, sent_.data() + input->offset, bytes));
    }
    case wire::Control::lower_precision: {
      const auto significand = smaller_significand(output.dtype);
      if (!significand) return false;
      run({Operation::shorten, word(to), output.elements, static_cast<long long>(output.dtype),
           word(reference_->data() + output.offset), *significand});
      return true;
    }
    case wire::Control::sign:
      return false;
    case wire::Control::stale:
      return done(measure::queue_copy(to, earlier_.data() + output.offset, bytes));
  }
  return false;
}

Result<std::optional<wire::Comparison>> CudaJudge::forge(const wire::ForgeOnDevice& plan) {
  if (!reference_)
    return Error{ErrorCode::internal, "the judge has no memory shared with the kernel yet"};
  if (auto copied = copy(returned_.data(), sent_.data()); !copied) return copied.error();
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    if (layout_.buffers[i].role == Role::in) continue;
    auto forged = forge_output(plan.control, i);
    if (!forged) return forged.error();
    if (!*forged) return std::optional<wire::Comparison>{};
  }
  auto verdict = judged(plan.compare);
  if (!verdict) return verdict.error();
  return std::optional<wire::Comparison>(*std::move(verdict));
}

}  // namespace ratchet::worker
