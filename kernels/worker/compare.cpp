#include "kernels/worker/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>

#include "kernels/worker/parallel.h"
#include "kernels/worker/small_float.h"

namespace ratchet::worker {
namespace {

constexpr std::int64_t kPreview = 8;

/// One thread's counts of one output.
struct Tally : Counts {
  void add(const Tally& other) {
    max_abs = std::max(max_abs, other.max_abs);
    max_rel = std::max(max_rel, other.max_rel);
    sum_abs += other.sum_abs;
    finite += other.finite;
    mismatches += other.mismatches;
    unwritten += other.unwritten;
    unexpected += other.unexpected;
    if (other.first_bad && (!first_bad || *other.first_bad < *first_bad))
      first_bad = other.first_bad;
  }
};

/// One output in the three arenas.
struct Output {
  const std::byte* sent;
  const std::byte* returned;
  const std::byte* expected;
  const wire::Buffer& buffer;
  const wire::Tolerance& tolerance;
  double atol = 0;  ///< after scaling

  [[nodiscard]] bool same_bytes(const std::byte* a, const std::byte* b, std::int64_t i) const {
    const auto size = size_of(buffer.dtype);
    return std::memcmp(a + i * size, b + i * size, static_cast<std::size_t>(size)) == 0;
  }
};

double scaled_atol_of(const wire::Tolerance& tolerance, const std::byte* expected,
                      const wire::Buffer& buffer) {
  if (tolerance.exact || tolerance.scale == wire::AtolScale::absolute) return tolerance.atol;
  std::mutex guard;
  double sum = 0;
  std::int64_t finite = 0;
  parallel_for(buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    double part = 0;
    std::int64_t counted = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const double value = element(expected, buffer.dtype, i);
      if (!std::isfinite(value)) continue;
      part += value * value;
      ++counted;
    }
    const std::lock_guard lock(guard);
    sum += part;
    finite += counted;
  });
  return scaled_atol(tolerance, sum, finite);
}

bool within(double got, double expected, double error, const Output& output) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return error <= output.atol + output.tolerance.rtol * std::fabs(expected);  // false for NaN
}

void judge_element(const Output& output, std::int64_t i, Tally& tally) {
  const double got = element(output.returned, output.buffer.dtype, i);
  const double expected = element(output.expected, output.buffer.dtype, i);
  const double error = std::fabs(got - expected);
  if (std::isfinite(got) && std::isfinite(expected)) {
    ++tally.finite;
    tally.sum_abs += error;
    tally.max_abs = std::max(tally.max_abs, error);
    if (expected != 0) tally.max_rel = std::max(tally.max_rel, error / std::fabs(expected));
  }
  const bool right = output.tolerance.exact ? output.same_bytes(output.returned, output.expected, i)
                                            : within(got, expected, error, output);
  if (right) return;
  ++tally.mismatches;
  if (!tally.first_bad) tally.first_bad = i;
  if (!std::isfinite(got) && std::isfinite(expected)) ++tally.unexpected;
  if (output.same_bytes(output.returned, output.sent, i)) ++tally.unwritten;
}

Tally judge_output(const Output& output) {
  std::mutex guard;
  Tally total;
  parallel_for(output.buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    Tally part;
    for (std::int64_t i = first; i < last; ++i) judge_element(output, i, part);
    const std::lock_guard lock(guard);
    total.add(part);
  });
  return total;
}

void add_previews(const Output& output, OutputError& error) {
  for (std::int64_t i = 0; i < std::min(kPreview, output.buffer.elements); ++i) {
    error.preview_kernel.push_back(element(output.returned, output.buffer.dtype, i));
    error.preview_reference.push_back(element(output.expected, output.buffer.dtype, i));
  }
}

bool same_range(const Arenas& arenas, std::int64_t from, std::int64_t to) {
  return std::memcmp(arenas.sent.data() + from, arenas.returned.data() + from,
                     static_cast<std::size_t>(to - from)) == 0;
}

/// Checks guards and inputs; stores the name of the first buffer affected.
void check_untouched(const Arenas& arenas, const wire::ArenaLayout& layout,
                     wire::Comparison& verdict) {
  std::int64_t end = 0;
  const auto guard = [&](std::int64_t to, const std::string& beside) {
    if (same_range(arenas, end, to) || !verdict.guards_intact) return;
    verdict.guards_intact = false;
    verdict.touched = beside;
  };
  std::string before = layout.buffers.empty() ? "" : layout.buffers.front().name;
  for (const auto& buffer : layout.buffers) {
    guard(buffer.offset, before);
    end = buffer.offset + buffer.bytes();
    before = buffer.name;
    if (buffer.role != Role::in || same_range(arenas, buffer.offset, end)) continue;
    verdict.inputs_intact = false;
    if (verdict.guards_intact) verdict.touched = buffer.name;
  }
  guard(layout.bytes, before);
}

}  // namespace

double scaled_atol(const wire::Tolerance& tolerance, double sum_of_squares, std::int64_t finite) {
  if (tolerance.exact || tolerance.scale == wire::AtolScale::absolute) return tolerance.atol;
  const auto rms =
      static_cast<float>(finite ? std::sqrt(sum_of_squares / static_cast<double>(finite)) : 0.0);
  return tolerance.atol * (tolerance.scale == wire::AtolScale::rms ? rms : std::min(1.0F, rms));
}

void add_output(const wire::Buffer& buffer, const Counts& counts, double matched_ratio,
                wire::Comparison& verdict) {
  const auto elements = static_cast<double>(buffer.elements);
  OutputError error;
  error.tensor = buffer.name;
  error.max_abs = counts.max_abs;
  error.max_rel = counts.max_rel;
  error.mean_abs = counts.finite ? counts.sum_abs / static_cast<double>(counts.finite) : 0;
  error.mismatches = counts.mismatches;
  error.elements = buffer.elements;
  error.first_bad = counts.first_bad;
  if (buffer.elements > 0) error.matched = 1 - static_cast<double>(counts.mismatches) / elements;
  const bool enough = static_cast<double>(counts.mismatches) <= (1 - matched_ratio) * elements;
  const bool right =
      counts.mismatches == 0 || (enough && counts.unwritten == 0 && counts.unexpected == 0);
  verdict.outputs.push_back(std::move(error));
  verdict.states.push_back({counts.unwritten, counts.unexpected, right});
}

bool all_right(const wire::Comparison& verdict) {
  return verdict.guards_intact && verdict.inputs_intact && !verdict.outputs.empty() &&
         std::ranges::all_of(verdict.states, &wire::OutputState::right);
}

wire::Comparison compare(const Arenas& arenas, const wire::Compare& plan) {
  wire::Comparison verdict;
  check_untouched(arenas, plan.layout, verdict);
  for (std::size_t i = 0; i < plan.layout.buffers.size(); ++i) {
    const auto& buffer = plan.layout.buffers[i];
    if (buffer.role == Role::in) continue;
    Output output{arenas.sent.data() + buffer.offset, arenas.returned.data() + buffer.offset,
                  arenas.expected.data() + buffer.offset, buffer, plan.tolerances.at(i)};
    output.atol = scaled_atol_of(output.tolerance, output.expected, buffer);
    add_output(buffer, judge_output(output), plan.matched_ratio, verdict);
    add_previews(output, verdict.outputs.back());
  }
  verdict.passed = all_right(verdict);
  return verdict;
}

}  // namespace ratchet::worker
