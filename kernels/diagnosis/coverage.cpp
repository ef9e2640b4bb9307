#include "kernels/diagnosis/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/diagnosis/diagnosis_metrics.h"

namespace ratchet {
namespace {

constexpr double kDecides = 0.5;
constexpr double kNearlyAll = 0.75;

bool same_work(const KernelCounters& kernel, const LaunchTime& launch) {
  const auto blocks = Metrics(kernel.metrics)[metric::kGrid];
  return kernel.name == launch.kernel && (!blocks || *blocks == launch.blocks);
}

double share(double counted, double all) {
  return all > 0 ? std::min(counted / all, 1.0) : 0;
}

Coverage by_launches(const DiagnosisInput& input) {
  Coverage found{.launched = input.launched.size()};
  double counted_ns = 0, all_ns = 0;
  for (const auto& launch : input.launched) {
    all_ns += launch.ns;
    if (std::ranges::none_of(input.kernels, [&](const KernelCounters& kernel) {
          return is_counted(kernel) && same_work(kernel, launch);
        }))
      continue;
    ++found.counted;
    counted_ns += launch.ns;
  }
  found.time = share(counted_ns, all_ns);
  return found;
}

Coverage by_kernels(const DiagnosisInput& input) {
  Coverage found{.launched = input.kernels.size()};
  double counted_ns = 0;
  for (const auto& kernel : input.kernels) {
    if (!is_counted(kernel)) continue;
    ++found.counted;
    counted_ns += Metrics(kernel.metrics).duration_ns();
  }
  found.time = share(counted_ns, input.timing.median.value);
  return found;
}

}  // namespace

std::string Coverage::text() const {
  return fmt::format("counters of {} of {} kernels, {:.0f} % of the time", counted, launched,
                     100 * time);
}

Confidence Coverage::at_most() const {
  return time < kNearlyAll ? Confidence::low : Confidence::medium;
}

bool Coverage::decides() const {
  return time >= kDecides;
}

bool is_counted(const KernelCounters& kernel) {
  const Metrics metrics(kernel.metrics);
  return metrics.duration_ns() > 0 && metrics[metric::kSm];
}

std::optional<Coverage> coverage_of(const DiagnosisInput& input) {
  if (std::ranges::none_of(input.kernels, is_counted)) return std::nullopt;
  auto found = by_launches(input);
  // Another engine may name kernels otherwise.
  if (found.counted == 0) found = by_kernels(input);
  return found.counted < found.launched ? std::optional(found) : std::nullopt;
}

}  // namespace ratchet
