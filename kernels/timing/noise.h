#pragma once

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

/// One comparison of a kernel with itself, in separate processes.
struct NoisePoint {
  double time_ns = 0;  ///< of one call
  double ratio = 1;    ///< the measured speed-up; 1 in a perfect comparison

  static constexpr void fields(auto&& visit) {
    visit(required<&NoisePoint::time_ns>(), required<&NoisePoint::ratio>());
  }
};

/// Calibrated noise: a part proportional to the time and a constant part (clock ticks, launch
/// jitter), each as `kNoiseSigmas` standard deviations.
struct NoiseProfile {
  double relative = kLeastNoise;
  double absolute_ns = 0;
  std::vector<NoisePoint> points;

  static constexpr void fields(auto&& visit) {
    using N = NoiseProfile;
    visit(required<&N::relative>("Fraction."), required<&N::absolute_ns>("Nanoseconds."),
          required<&N::points>());
  }
};

/// 99 % of a normal distribution. A verdict requires the whole interval of the ratio beyond the
/// noise, so a kernel compared with itself gets one in fewer than 1 of 100 comparisons.
inline constexpr double kNoiseSigmas = 2.6;

/// Splits the scatter of a short and a long kernel into the two parts. An empty span leaves its
/// part at the default.
[[nodiscard]] NoiseProfile fit_noise(std::span<const NoisePoint> of_short,
                                     std::span<const NoisePoint> of_long);

/// The noise floor for kernels of about this time: a fraction, never below `kLeastNoise`.
[[nodiscard]] double noise_floor_at(const NoiseProfile& profile, double time_ns);

/// Reads `<state>/noise/<key>.json`; the key is derived from a CUDA device's UUID and driver, or
/// the host's processor, core count and kernel release. Empty if nothing readable is there, or only
/// a calibration above `kMostNoise` that is older than an hour.
[[nodiscard]] std::optional<NoiseProfile> stored_noise(const std::filesystem::path& state,
                                                       const DeviceInfo& device);
Status store_noise(const std::filesystem::path& state, const DeviceInfo& device,
                   const NoiseProfile& profile);

}  // namespace ratchet
