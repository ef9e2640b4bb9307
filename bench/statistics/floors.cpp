#include "bench/statistics/floors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bench/statistics/former.h"
#include "bench/statistics/matches.h"
#include "kernels/timing/noise.h"

namespace ratchet::bench {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double worst_tenth(std::vector<double> values) {
  std::ranges::sort(values);
  values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(values.size() / 10));
  return mean(values);
}

/// The ratios of one process of a kernel to the others of its session; each process's time is off
/// by what `bias` draws, as a logarithm.
template <class Bias>
std::vector<NoisePoint> session_of(double time_ns, int processes, Bias bias) {
  const double first = bias();
  std::vector<double> ratios;
  for (int p = 1; p < processes; ++p) ratios.push_back(std::exp(bias() - first));
  return independent_points(time_ns, ratios);
}

/// How a device is calibrated, and over how many pieces of memory a process's calls rotate.
struct Instrument {
  const char* name;
  int sessions, processes, pieces;
  bool former;  ///< 2.6 standard deviations
};

// Seen on H200s. Pairs of processes with one piece of memory each differ by 31 ns at 4.4 µs.
constexpr double kPieceNs = 22;
constexpr double kProcess = 0.0005;  // of the time
// The median of 320 calls timed by a clock of 256 ns: √(256² / 6 / 320).
constexpr double kTickNs = 5.8;

/// The logarithm by which a process's time is off.
double bias_of(double time_ns, int pieces) {
  return kProcess * normal() + kPieceNs / std::sqrt(pieces) / time_ns * normal();
}

double calibrated_floor(const Instrument& instrument, double at_ns) {
  std::vector<NoisePoint> of_short, of_long;
  for (int s = 0; s < instrument.sessions; ++s)
    for (auto* const points : {&of_short, &of_long}) {
      const double time = points == &of_short ? 4'400 : 60'000;
      const auto more = session_of(time, instrument.processes, [&] {
        return bias_of(time, instrument.pieces) + kTickNs / time * normal();
      });
      points->insert(points->end(), more.begin(), more.end());
    }
  auto profile = fit_noise(of_short, of_long);
  if (instrument.former) {
    const double factor = kFormerSigmas / student_t(instrument.sessions, kNoiseRate / 2);
    profile.relative *= factor;
    profile.absolute_ns *= factor;
  }
  return noise_floor_at(profile, at_ns);
}

}  // namespace

void noise_floors(int calibrations) {
  fmt::print(
      "\n### How often the ratio of a kernel to itself exceeds the noise floor (1 % is meant)\n\n"
      "| sessions | processes | before: mean | worst tenth of calibrations | now: mean | worst "
      "tenth "
      "|\n|---|---|---|---|---|---|\n");
  for (const auto& [sessions, processes] : {std::pair(4, 2), std::pair(8, 2), std::pair(8, 4)}) {
    constexpr double kSigma = 0.004;  // above the least floor, so that the factor shows
    std::vector<double> before, now;
    for (int i = 0; i < calibrations; ++i) {
      std::vector<NoisePoint> points;
      for (int s = 0; s < sessions; ++s)
        for (const auto& point :
             session_of(1e6, processes, [&] { return kSigma / std::sqrt(2.0) * normal(); }))
          points.push_back(point);
      double squares = 0;
      for (const auto& point : points) squares += std::log(point.ratio) * std::log(point.ratio);
      const auto exceeded = [&](double floor) {
        return std::erfc(floor / kSigma / std::sqrt(2.0));
      };
      before.push_back(exceeded(std::max(
          kLeastNoise, kFormerSigmas * std::sqrt(squares / static_cast<double>(points.size())))));
      now.push_back(exceeded(std::log1p(noise_floor_at(fit_noise({}, points), 1e6))));
    }
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", sessions, processes, percent(mean(before)),
               percent(worst_tenth(before)), percent(mean(now)), percent(worst_tenth(now)));
  }
}

void short_kernels(int trials) {
  constexpr std::size_t kRoundsOfSecond = 48;  // at 5.4 µs on an H200
  constexpr double kTime = 5'400;
  fmt::print(
      "\n### 2 % at 5.4 µs within a second, and the kernel against itself\n\nWhere a piece of "
      "memory lies makes calls slower or faster by {} ns, processes differ by {} % besides.\n\n"
      "| calibration | floor: median | worst tenth | seen | against itself: faster or slower "
      "|\n|---|---|---|---|---|\n",
      kPieceNs, 100 * kProcess);
  for (const auto& instrument :
       {Instrument{"8 sessions of 2, 2.6 deviations", 8, 2, 1, true},
        Instrument{"8 sessions of 2", 8, 2, 1, false},
        Instrument{"8 sessions of 4", 8, 4, 1, false},
        Instrument{"8 sessions of 4, memory in 4 pieces", 8, 4, 4, false},
        Instrument{"8 sessions of 4, memory in 8 pieces", 8, 4, 8, false},
        Instrument{"4 sessions of 4, memory in 8 pieces", 4, 4, 8, false}}) {
    std::vector<double> floors;
    int seen = 0;
    int wrong = 0;
    for (int i = 0; i < trials; ++i) {
      floors.push_back(calibrated_floor(instrument, kTime));
      // Both sides' bias in one.
      const double between =
          std::sqrt(2.0) * std::hypot(kProcess, kPieceNs / std::sqrt(instrument.pieces) / kTime);
      auto match =
          even({.time_ns = kTime, .correlation = 0.1, .tick_ns = 256}, between, floors.back());
      match.most_rounds = kRoundsOfSecond;
      const auto itself = play(match, false).verdict;
      wrong += itself == Verdict::faster || itself == Verdict::slower ? 1 : 0;
      match.candidate.time_ns *= 1.0205;
      seen += play(match, false).verdict == Verdict::slower ? 1 : 0;
    }
    fmt::print("| {} | {:.2f} % | {:.2f} % | {} | {} |\n", instrument.name, 100 * median_of(floors),
               100 * worst_tenth(floors), percent(1.0 * seen / trials),
               percent(1.0 * wrong / trials));
  }
}

void own_noises(int trials) {
  constexpr std::size_t kRoundsBesideItself = 13;
  constexpr double kGain = 0.05;
  fmt::print(
      "\n### A kernel whose processes differ by more than the calibration's\n\nThe floor is {} %. "
      "Without the kernel beside itself, and with it.\n\n"
      "| scatter between processes | caveat | against itself: faster or slower | with it | {:.0f} "
      "% seen | with it |\n|---|---|---|---|---|---|\n",
      100 * kLeastNoise, 100 * kGain);
  for (const double between : {0.0005, 0.0025, 0.005, 0.01, 0.02}) {
    const auto same = even({.correlation = 0.1}, std::sqrt(2.0) * between);
    auto brief = same;
    brief.most_rounds = kRoundsBesideItself;
    const auto is_told = [](const Comparison& one) {
      return one.verdict == Verdict::faster || one.verdict == Verdict::slower;
    };
    int caveats = 0;
    std::array<int, 2> wrong{}, seen{};
    for (int i = 0; i < trials; ++i) {
      const auto own = own_noise(play(brief, false).comparison);
      caveats += own ? 1 : 0;
      auto itself = play(same, false).comparison;
      auto gain = play(faster_by(same, kGain), false).comparison;
      for (const bool held : {false, true}) {
        if (held && own) {
          hold_against_own(*own, itself);
          hold_against_own(*own, gain);
        }
        wrong[held ? 1 : 0] += is_told(itself) ? 1 : 0;
        seen[held ? 1 : 0] += gain.verdict == Verdict::faster ? 1 : 0;
      }
    }
    const auto share = [&](int count) { return percent(1.0 * count / trials); };
    fmt::print("| {:.2f} % | {} | {} | {} | {} | {} |\n", 100 * between, share(caveats),
               share(wrong[0]), share(wrong[1]), share(seen[0]), share(seen[1]));
  }
}

}  // namespace ratchet::bench
