// The errors of outputs on a device, and what judges them as a whole.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/worker/compare_rules.h"
#include "kernels/worker/cuda/device_judge.h"
#include "kernels/worker/small_float.h"
#include "server/facts/unit_roundoff.h"

namespace ratchet::worker {
namespace {

constexpr std::int64_t kPreview = 8;

std::int64_t count_of(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

Counts counts_of(const DeviceTally& tally) {
  Counts counts{tally.max_abs,
                tally.max_rel,
                tally.sum_abs,
                count_of(tally.finite),
                count_of(tally.mismatches),
                count_of(tally.far),
                count_of(tally.unwritten),
                count_of(tally.unexpected),
                {}};
  if (counts.mismatches > 0) counts.first_bad = count_of(tally.first_bad);
  return counts;
}

Whole whole_of(const DeviceTally& tally) {
  return {tally.squares,  tally.inwards,         tally.honest,
          tally.rounding, count_of(tally.small), count_of(tally.flushed)};
}

}  // namespace

Status CudaJudge::clear_result() {
  return measure::queue_clear(result_.data(), kResultBytes);
}

Result<DeviceTally> CudaJudge::tally_of(const DeviceOutput& output) {
  const DeviceTally start;
  if (auto written = result_.write(0, std::as_bytes(std::span(&start, 1))); !written)
    return written.error();
  run({Operation::output, word_of(output), word(result_.data()), 0});
  return result_of<DeviceTally>();
}

Result<bool> CudaJudge::shadowed(const DeviceOutput& output, std::int64_t elements) {
  if (auto cleared = clear_result(); !cleared) return cleared.error();
  run({Operation::sample_far, word_of(output), word(result_.data()),
       static_cast<long long>(shadow_sample_step(elements))});
  auto sampled = result_of<Sampled>();
  if (!sampled) return sampled.error();
  return is_shadow(count_of(sampled->far), count_of(sampled->seen));
}

Status CudaJudge::measure_honesty(DeviceOutput& output) {
  if (auto cleared = clear_result(); !cleared) return cleared;
  run({Operation::honesty, word_of(output), word(result_.data()), 0});
  auto binades = result_of<Binades>();
  if (!binades) return binades.error();
  const auto honest = honest_errors(*binades);
  output.honest = result_.data() + kResultBytes;
  return result_.write(kResultBytes, std::as_bytes(std::span(honest)));
}

Result<std::vector<double>> CudaJudge::preview(const std::byte* data,
                                               const wire::Buffer& buffer) const {
  const auto count = std::min(kPreview, buffer.elements);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * size_of(buffer.dtype)));
  if (auto read = measure::read_device(data + buffer.offset, bytes); !read) return read.error();
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(element(bytes.data(), buffer.dtype, i));
  return values;
}

Status CudaJudge::judge_output(const wire::Compare& plan, std::size_t index, const std::byte* from,
                               wire::Comparison& verdict) {
  const auto& buffer = layout_.buffers[index];
  const auto& tolerance = plan.tolerances[index];
  DeviceOutput output{.sent = sent_.data() + buffer.offset,
                      .got = from + buffer.offset,
                      .expected = reference_->data() + buffer.offset,
                      .count = static_cast<std::uint64_t>(buffer.elements),
                      .type = static_cast<std::uint64_t>(buffer.dtype),
                      .atol = tolerance.atol,
                      .rtol = tolerance.rtol,
                      .least = least_error(tolerance, buffer.dtype),
                      .of_terms = tolerance.terms,
                      .honest_times = tolerance.honest,
                      .unit = unit_roundoff(buffer.dtype),
                      .far_from_shadow = kFarFromShadow,
                      .exact = tolerance.exact,
                      .only_honest = tolerance.only_honest,
                      .flush = tolerance.flush};
  if (plan.with_terms) output.terms = aside_.data() + buffer.offset;
  if (auto found = find_scale(buffer, tolerance, output); !found) return found;
  if (plan.wide && is_floating(buffer.dtype)) {
    output.shadow = wide_->data() + plan.wide->buffers[index].offset;
    auto is = shadowed(output, buffer.elements);
    if (!is) return is.error();
    if (!*is) output.shadow = nullptr;
  }
  if (output.shadow)
    if (auto measured = measure_honesty(output); !measured) return measured;
  auto tally = tally_of(output);
  if (!tally) return tally.error();
  const auto counts = counts_of(*tally);
  add_output(buffer, counts, tolerance, verdict);
  if (!tolerance.exact)
    judge_whole({whole_of(*tally), counts.finite, output.shadow != nullptr, output.least},
                tolerance, verdict.states.back());
  auto got = preview(from, buffer);
  if (!got) return got.error();
  auto expected = preview(reference_->data(), buffer);
  if (!expected) return expected.error();
  verdict.outputs.back().preview_kernel = *std::move(got);
  verdict.outputs.back().preview_reference = *std::move(expected);
  return {};
}

}  // namespace ratchet::worker
