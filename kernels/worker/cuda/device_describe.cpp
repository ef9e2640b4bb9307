// What the judge on a device says about a reference's answer.

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/worker/cuda/device_judge.h"

namespace ratchet::worker {

Result<wire::Answered> CudaJudge::describe() {
  if (!reference_)
    return Error{ErrorCode::internal, "the judge has no memory shared with the kernel yet"};
  wire::Answered answered;
  std::vector<std::uint64_t> firsts(layout_.buffers.size());
  for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
    const auto& buffer = layout_.buffers[i];
    const std::byte* const answer = reference_->data() + buffer.offset;
    const auto first = std::as_writable_bytes(std::span(&firsts[i], 1))
                           .first(static_cast<std::size_t>(size_of(buffer.dtype)));
    if (auto read = measure::read_device(answer, first); !read) return read.error();
    if (buffer.role == Role::in) continue;
    auto squares = squares_of(buffer);
    if (!squares) return squares.error();
    const auto finite = static_cast<std::int64_t>(squares->finite);
    answered.rms.push_back(finite ? std::sqrt(squares->sum / static_cast<double>(finite)) : 0);
    answered.not_finite += buffer.elements - finite;
    if (buffer.role != Role::out) continue;
    auto written = differ(sent_.data() + buffer.offset, answer, buffer.bytes());
    if (!written) return written.error();
    if (!*written && !answered.unwritten) answered.unwritten = buffer.name;
  }
  auto all = writes_all();
  if (!all) return all.error();
  answered.writes_all = *all;
  firsts_before_ = std::exchange(firsts_, std::move(firsts));
  if (!changed_) {
    if (auto kept = copy(earlier_.data(), reference_->data()); !kept) return kept.error();
    return answered;
  }
  auto same = same_outputs(reference_->data(), earlier_.data());
  if (!same) return same.error();
  answered.same_as_before = *same;
  return answered;
}

}  // namespace ratchet::worker
