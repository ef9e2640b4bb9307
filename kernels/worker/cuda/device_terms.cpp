// What the reference is asked beside its answer, on a device: the trial in float64, and whether
// outputs are sums.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/worker/cuda/device_judge.h"

namespace ratchet::worker {
namespace {

/// Whether this much memory is there and as much again and again: for the reference, which computes
/// with it, and for kernels.
bool has_room(std::int64_t bytes) {
  constexpr std::size_t kTimes = 3;
  return kTimes * static_cast<std::size_t>(bytes) <= measure::free_device_memory();
}

}  // namespace

Result<DeviceJudge::Roomy> CudaJudge::widen(const wire::WidenOnDevice& plan) {
  if (!reference_ || plan.wide.buffers.size() != layout_.buffers.size())
    return Error{ErrorCode::internal, "the wide arena needs one entry per buffer of the trial"};
  Roomy roomy;
  const auto bytes = static_cast<std::size_t>(plan.wide.bytes + kShiftRoom);
  if (!wide_ || wide_->bytes() < bytes) {
    wide_.reset();
    if (!has_room(plan.wide.bytes)) return Roomy{.fits = false};
    auto memory = measure::SharedMemory::create(gpu_, bytes);
    if (!memory) return Roomy{.fits = false};
    wide_.emplace(*std::move(memory));
    auto descriptors = wide_->descriptors();
    if (!descriptors) return descriptors.error();
    roomy.memory = *std::move(descriptors);
  }
  if (auto cleared = measure::queue_clear(wide_->data(), bytes); !cleared) return cleared.error();
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    const auto& buffer = layout_.buffers[i];
    if (buffer.role == Role::out) continue;
    std::byte* const to = wide_->data() + plan.wide.buffers[i].offset;
    const std::byte* const from = sent_.data() + buffer.offset;
    if (is_floating(buffer.dtype)) {
      run({Operation::widen, word(to), buffer.elements, static_cast<long long>(buffer.dtype),
           word(from)});
      continue;
    }
    const auto size = static_cast<std::size_t>(buffer.bytes());
    if (auto copied = measure::queue_copy(to, from, size); !copied) return copied.error();
  }
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot widen a trial: " + *failure};
  return roomy;
}

Status CudaJudge::add_aside(const std::string& tensor) {
  for (const auto& buffer : layout_.buffers) {
    std::byte* const aside = aside_.data() + buffer.offset;
    const auto type = static_cast<long long>(buffer.dtype);
    if (buffer.role != Role::in)
      run({Operation::combine, word(aside), buffer.elements, type,
           word(reference_->data() + buffer.offset)});
    else if (buffer.name == tensor)
      run({Operation::combine, word(sent_.data() + buffer.offset), buffer.elements, type,
           word(aside)});
  }
  return copy(reference_->data(), sent_.data());
}

Status CudaJudge::take_magnitudes() {
  if (auto copied = copy(aside_.data(), reference_->data()); !copied) return copied;
  if (auto copied = copy(reference_->data(), sent_.data()); !copied) return copied;
  for (const auto& buffer : layout_.buffers)
    if (buffer.role == Role::in && is_floating(buffer.dtype))
      run({Operation::combine, word(reference_->data() + buffer.offset), buffer.elements,
           static_cast<long long>(buffer.dtype), word(nullptr)});
  return {};
}

Status CudaJudge::keep_aside() {
  if (auto copied = copy(aside_.data(), sent_.data()); !copied) return copied;
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::in) continue;
    auto copied =
        measure::queue_copy(aside_.data() + buffer.offset, reference_->data() + buffer.offset,
                            static_cast<std::size_t>(buffer.bytes()));
    if (!copied) return copied;
  }
  return {};
}

Result<wire::Comparison> CudaJudge::judge_aside(const wire::Compare& plan) {
  wire::Comparison verdict;
  if (plan.tolerances.size() != layout_.buffers.size())
    return Error{ErrorCode::internal, "tolerances needs one entry per buffer of the trial"};
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    if (layout_.buffers[i].role == Role::in) continue;
    if (auto done = judge_output(plan, i, aside_.data(), verdict); !done) return done.error();
  }
  return verdict;
}

Result<DeviceJudge::Roomy> CudaJudge::terms(const wire::TermsOnDevice& plan) {
  if (!reference_) return Error{ErrorCode::internal, "no trial has been generated yet"};
  const bool first = plan.step == wire::TermsStep::keep || plan.step == wire::TermsStep::magnitudes;
  if (aside_.bytes() < static_cast<std::size_t>(layout_.bytes)) {
    if (!first) return Error{ErrorCode::internal, "nothing was set aside"};
    auto memory = measure::DeviceMemory::allocate(sent_.bytes());
    if (!memory) return Roomy{.fits = false};
    aside_ = *std::move(memory);
  }
  Roomy roomy;
  Status done;
  switch (plan.step) {
    case wire::TermsStep::keep:
      done = keep_aside();
      break;
    case wire::TermsStep::add:
      done = add_aside(plan.tensor);
      break;
    case wire::TermsStep::judge: {
      auto verdict = judge_aside(plan.compare.value_or(wire::Compare{}));
      if (!verdict) return verdict.error();
      roomy.comparison = *std::move(verdict);
      break;
    }
    case wire::TermsStep::magnitudes:
      done = take_magnitudes();
      break;
    case wire::TermsStep::restore:
      run({Operation::exchange, word(reference_->data()), layout_.bytes, 0, word(aside_.data())});
      break;
  }
  if (!done) return done.error();
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot add up answers: " + *failure};
  return roomy;
}

}  // namespace ratchet::worker
