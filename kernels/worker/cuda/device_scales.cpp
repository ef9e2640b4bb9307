// What a tolerance is multiplied by on a device, from the reference's answer.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/worker/compare_rules.h"
#include "kernels/worker/cuda/device_judge.h"

namespace ratchet::worker {

template <class Value>
Result<std::vector<Value>> CudaJudge::values_of(Operation::Code operation,
                                                const wire::Buffer& buffer, std::int64_t turns,
                                                std::int64_t length, std::int64_t count) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  const auto bytes = std::as_writable_bytes(std::span(values));
  if (scales_.bytes() < bytes.size()) {
    auto memory = measure::DeviceMemory::allocate(bytes.size());
    if (!memory) return memory.error();
    scales_ = *std::move(memory);
  }
  run({operation, word(reference_->data() + buffer.offset), turns,
       static_cast<long long>(buffer.dtype), length, word(scales_.data())});
  if (auto failure = gpu_.finish())
    return Error{ErrorCode::internal, "the judge cannot compare: " + *failure};
  if (auto read = scales_.read(0, bytes); !read) return read.error();
  return values;
}

Result<double> CudaJudge::typical_of(const wire::Buffer& buffer) {
  const auto step = scale_sample_step(buffer.elements);
  auto sample = values_of<double>(Operation::sample, buffer, buffer.elements, step,
                                  (buffer.elements + step - 1) / step);
  if (!sample) return sample.error();
  return typical_magnitude(*std::move(sample));
}

Status CudaJudge::find_row_scales(const wire::Buffer& buffer, std::int64_t row, double scale) {
  const auto count = buffer.elements / row;
  auto rows = values_of<float>(Operation::row_magnitudes, buffer, count, row, count);
  if (!rows) return rows.error();
  scale_rows(*rows, row, scale);
  return scales_.write(0, std::as_bytes(std::span(*rows)));
}

Result<CudaJudge::Allowance> CudaJudge::allowance_of(const wire::Buffer& buffer,
                                                     const wire::Tolerance& tolerance) {
  Allowance allowance{tolerance.atol, least_error(tolerance, buffer.dtype)};
  if (tolerance.exact || tolerance.scale == wire::AtolScale::absolute) return allowance;
  auto squares = squares_of(buffer);
  if (!squares) return squares.error();
  double typical = 0;
  if (tolerance.scale == wire::AtolScale::typical) {
    auto found = typical_of(buffer);
    if (!found) return found.error();
    typical = *found;
  }
  const double scale =
      scale_of(tolerance, squares->sum, static_cast<std::int64_t>(squares->finite), typical);
  const auto row = tolerance.scale == wire::AtolScale::row ? scaled_row(buffer) : 0;
  if (row == 0) {
    allowance.atol *= scale;
    return allowance;
  }
  if (auto found = find_row_scales(buffer, row, scale); !found) return found.error();
  allowance.rows = scales_.data();
  allowance.row = row;
  return allowance;
}

}  // namespace ratchet::worker
