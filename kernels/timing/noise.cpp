#include "kernels/timing/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::chrono::hours kBadHour(1);

/// Standard deviation around a ratio of 1, the true value.
double scatter(std::span<const NoisePoint> points) {
  double squares = 0;
  for (const auto& point : points) squares += std::log(point.ratio) * std::log(point.ratio);
  return points.empty() ? 0 : std::sqrt(squares / static_cast<double>(points.size()));
}

/// What a further ratio exceeds with a probability of `kNoiseRate`.
double range_of(std::span<const NoisePoint> points) {
  if (points.empty()) return 0;
  return student_t(static_cast<int>(points.size()), kNoiseRate / 2) * scatter(points);
}

double typical_time(std::span<const NoisePoint> points) {
  std::vector<double> times;
  for (const auto& point : points) times.push_back(point.time_ns);
  return times.empty() ? 0 : median_of(std::move(times));
}

std::filesystem::path path_of(const std::filesystem::path& state, const DeviceInfo& device) {
  const auto key =
      sha256_hex(fmt::format("noise 5\n{}\n{}\n{}\n{}\n{}", name_of(device.kind), device.name,
                             device.uuid, device.driver, device.multiprocessors));
  return state / "noise" / (key.substr(0, 16) + ".json");
}

}  // namespace

std::vector<NoisePoint> independent_points(double time_ns, std::span<const double> ratios) {
  std::vector<NoisePoint> points;
  double sum = 0;  // of the logarithms of the processes so far; the first one's is 0
  for (const double ratio : ratios) {
    const auto before = static_cast<double>(points.size() + 1);
    const double apart = std::log(ratio) - sum / before;
    sum += std::log(ratio);
    // The mean of n scatters by 1/n of the variance of one.
    points.push_back({time_ns, std::exp(apart * std::sqrt(2 * before / (before + 1)))});
  }
  return points;
}

NoiseProfile fit_noise(std::span<const NoisePoint> of_short, std::span<const NoisePoint> of_long) {
  NoiseProfile profile;
  profile.points.assign(of_short.begin(), of_short.end());
  profile.points.insert(profile.points.end(), of_long.begin(), of_long.end());
  const double at_short = std::pow(range_of(of_short), 2);
  const double at_long = std::pow(range_of(of_long), 2);
  // The two parts add as squares; each is estimated at one of the two times.
  const auto per_time = [](std::span<const NoisePoint> points) {
    return points.empty() ? 0 : std::pow(typical_time(points), -2);
  };
  const double apart = per_time(of_short) - per_time(of_long);
  const double absolute = apart > 0 ? std::max(0.0, (at_short - at_long) / apart) : 0;
  profile.absolute_ns = std::sqrt(absolute);
  profile.relative =
      std::max(kLeastNoise, std::sqrt(std::max(0.0, at_long - absolute * per_time(of_long))));
  return profile;
}

double noise_floor_at(const NoiseProfile& profile, double time_ns) {
  const double absolute = time_ns > 0 ? profile.absolute_ns / time_ns : 0;
  return std::max(kLeastNoise, std::hypot(profile.relative, absolute));
}

std::optional<NoiseProfile> stored_noise(const std::filesystem::path& state,
                                         const DeviceInfo& device) {
  const auto path = path_of(state, device);
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  auto profile = decode_stored<NoiseProfile>(Json::parse(*text, nullptr, false));
  if (!profile || profile->points.empty()) return std::nullopt;  // damaged: calibrated again
  // A calibration under contention would hide differences for long.
  std::error_code failed;
  const auto age = std::filesystem::file_time_type::clock::now() -
                   std::filesystem::last_write_time(path, failed);
  if (failed || age > (profile->relative > kMostNoise ? kBadHour : kNoiseAge)) return std::nullopt;
  return *std::move(profile);
}

Status store_noise(const std::filesystem::path& state, const DeviceInfo& device,
                   const NoiseProfile& profile) {
  return write_file(path_of(state, device), encode(profile).dump(2));
}

}  // namespace ratchet
