#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "kernels/timing/statistics.h"
#include "server/core/fields.h"
#include "server/facts/environment.h"

namespace ratchet {

// How far apart two comparisons of one kernel with itself lie on a device. Two processes differ by
// more than their samples show: where the driver put their memory, which core they woke on. No
// number of samples in one session finds that out, so it is calibrated with fresh processes (A/A)
// and kept per device and driver.
//
// Pure but for `stored_noise` and `store_noise`; thread-safe. Times in ns.

/// One comparison of a kernel with itself, in processes of its own.
struct NoisePoint {
  double time_ns = 0;  ///< of one call
  double ratio = 1;    ///< the speed-up that a perfect comparison would show as 1

  static constexpr void fields(auto&& visit) {
    visit(required("time_ns", &NoisePoint::time_ns, ""), required("ratio", &NoisePoint::ratio, ""));
  }
};

/// What was calibrated: noise that grows with the time, and noise that does not (clock ticks,
/// launch jitter), each as `kNoiseSigmas` standard deviations.
struct NoiseProfile {
  double relative = kLeastNoise;
  double absolute_ns = 0;
  std::vector<NoisePoint> points;

  static constexpr void fields(auto&& visit) {
    using N = NoiseProfile;
    visit(required("relative", &N::relative, "Fraction."),
          required("absolute_ns", &N::absolute_ns, "Nanoseconds."),
          required("points", &N::points, ""));
  }
};

/// 99 % of a normal distribution. A verdict wants the whole interval of the ratio beyond the noise,
/// so that a kernel against itself gets one in fewer than 100 comparisons.
inline constexpr double kNoiseSigmas = 2.6;

/// Splits the scatter of a short and a long kernel into the two parts. Empty spans: that part stays
/// at its default.
[[nodiscard]] NoiseProfile fit_noise(std::span<const NoisePoint> of_short,
                                     std::span<const NoisePoint> of_long);

/// The floor for kernels of about this time: a fraction, never below `kLeastNoise`.
[[nodiscard]] double noise_floor_at(const NoiseProfile& profile, double time_ns);

/// `<state>/noise/<key>.json`; the key follows from a CUDA device's UUID and driver, or the host's
/// processor, core count and kernel release. Empty when nothing readable is there, or only a
/// calibration with more than `kMostNoise` that is older than an hour.
[[nodiscard]] std::optional<NoiseProfile> stored_noise(const std::filesystem::path& state,
                                                       const DeviceInfo& device);
Status store_noise(const std::filesystem::path& state, const DeviceInfo& device,
                   const NoiseProfile& profile);

}  // namespace ratchet
