#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "kernels/timing/statistics.h"
#include "server/core/fields.h"
#include "server/facts/environment.h"

namespace ratchet {

// The noise of comparing one kernel with itself on a device. Two processes differ by more than
// their samples show: where the driver placed their memory, which core they woke on. More samples
// in one session cannot reveal that, so the noise is calibrated with fresh processes (A/A) and
// stored per device and driver.
//
// Pure except `stored_noise` and `store_noise`; thread-safe. Times in ns.

/// One comparison of a kernel with itself, in separate processes with memory of their own.
struct NoisePoint {
  double time_ns = 0;  ///< of one call
  double ratio = 1;    ///< the measured speed-up; 1 in a perfect comparison

  static constexpr void fields(auto&& visit) {
    visit(required<&NoisePoint::time_ns>(), required<&NoisePoint::ratio>());
  }
};

/// Calibrated noise: a part proportional to the time and a constant part (clock ticks, launch
/// jitter), each as the 99 % range of its scatter: a t-distribution's, because few points show the
/// scatter itself only roughly (2.6 standard deviations of 8 points are exceeded by 3.1 % of
/// comparisons, not by 1 %).
struct NoiseProfile {
  double relative = kLeastNoise;
  double absolute_ns = 0;
  std::vector<NoisePoint> points;
  std::optional<double> clock_mhz;  ///< the highest clock seen while it was calibrated

  static constexpr void fields(auto&& visit) {
    using N = NoiseProfile;
    visit(required<&N::relative>("Fraction."), required<&N::absolute_ns>("Nanoseconds."),
          required<&N::points>(), optional<&N::clock_mhz>("MHz."));
  }
};

/// What one session of several processes of a kernel shows: `ratios` are the speed-ups of the first
/// process over each other one. All share the first one's share of the scatter; the points are as
/// many, but independent: each process against the geometric mean of those before it, stretched to
/// the scatter of one against one.
[[nodiscard]] std::vector<NoisePoint> independent_points(double time_ns,
                                                         std::span<const double> ratios);

/// How often the ratio of a kernel to itself may exceed the noise floor. A verdict requires the
/// whole interval of the ratio beyond the floor, so it is rarer still.
inline constexpr double kNoiseRate = 0.01;

/// A calibration that is older is made again: neighbors, drivers and temperatures change.
inline constexpr std::chrono::hours kNoiseAge(7 * 24);

/// Splits the scatter of a short and a long kernel into the two parts. An empty span leaves its
/// part at the default.
[[nodiscard]] NoiseProfile fit_noise(std::span<const NoisePoint> of_short,
                                     std::span<const NoisePoint> of_long);

/// The noise floor for kernels of about this time: a fraction, never below `kLeastNoise`.
[[nodiscard]] double noise_floor_at(const NoiseProfile& profile, double time_ns);

/// Reads `<state>/noise/<key>.json`; the key is derived from a CUDA device's UUID and driver, or
/// the host's processor, core count and kernel release. Empty if nothing readable is there, or only
/// a calibration that is older than `kNoiseAge`, or older than an hour and above `kMostNoise`.
[[nodiscard]] std::optional<NoiseProfile> stored_noise(const std::filesystem::path& state,
                                                       const DeviceInfo& device);
Status store_noise(const std::filesystem::path& state, const DeviceInfo& device,
                   const NoiseProfile& profile);

}  // namespace ratchet
