// What a tolerance is multiplied by on a device, from the reference's answer.

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/worker/compare_rules.h"
#include "kernels/worker/cuda/device_judge.h"

namespace ratchet::worker {

Result<Squares> CudaJudge::squares_of(const wire::Buffer& buffer) {
  if (auto cleared = clear_result(); !cleared) return cleared.error();
  run({Operation::squares, word(reference_->data() + buffer.offset), buffer.elements,
       static_cast<long long>(buffer.dtype), word(result_.data())});
  return result_of<Squares>();
}

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

Status CudaJudge::find_scale(const wire::Buffer& buffer, const wire::Tolerance& tolerance,
                             DeviceOutput& output) {
  const bool fixed = tolerance.scale == wire::AtolScale::absolute;
  if (tolerance.exact || (fixed && !tolerance.flush)) return {};
  auto squares = squares_of(buffer);
  if (!squares) return squares.error();
  const auto finite = static_cast<std::int64_t>(squares->finite);
  double rms = finite ? std::sqrt(squares->sum / static_cast<double>(finite)) : 0;
  if (!fixed) {
    double typical = 0;
    if (tolerance.scale == wire::AtolScale::typical) {
      auto found = typical_of(buffer);
      if (!found) return found.error();
      typical = *found;
    }
    output.scale = scale_of(tolerance, squares->sum, finite, typical);
    rms = scale_of(tolerance, squares->sum, finite);
  }
  output.rough_below = rough_below(buffer.dtype, rms, output.least);
  const auto row = tolerance.scale == wire::AtolScale::row ? scaled_row(buffer) : 0;
  if (row == 0) return {};
  if (auto found = find_row_scales(buffer, row, output.scale); !found) return found;
  output.rows = scales_.data();
  output.row = static_cast<std::uint64_t>(row);
  return {};
}

}  // namespace ratchet::worker
