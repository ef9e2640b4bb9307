#pragma once

// The speed-up over a workload from the paired comparisons of its cases.

#include <algorithm>
#include <cmath>
#include <string>

#include "server/facts/benchmark.h"
#include "server/facts/contract.h"

namespace ratchet {

struct WorkloadGain {
  double geomean = 1;  ///< weighted by case
  double low = 1;      ///< of its 95 % interval, which includes the noise between processes
  double high = 1;
  double lowest = 1;  ///< of any case
  int slower = 0;     ///< cases whose verdict is `slower`
  int doubtful = 0;   ///< see `is_doubtful`
  int cases = 0;      ///< with a comparison of at least `kLeastPairs`
  int missing = 0;    ///< without
};

/// With fewer pairs, no 95 % interval of a median exists: 2·0.5^5 = 6 %, 2·0.5^6 = 3 %.
inline constexpr int kLeastPairs = 6;

/// The candidate against `other` over the contract's cases. A case whose comparison is marked
/// (`speedup_mean`) counts with the smaller of its two figures. Cases are measured one after the
/// other, in new processes, so that their errors are independent. Pure; `geomean` only counts if
/// nothing is missing.
[[nodiscard]] inline WorkloadGain workload_gain(const BenchmarkReport& report,
                                                const Contract& contract,
                                                const std::string& other) {
  WorkloadGain gain;
  double logs = 0;
  double weights = 0;
  double below = 0;
  double above = 0;
  for (const auto& one : contract.cases) {
    if (one.hidden) continue;
    const auto row = std::ranges::find_if(report.rows, [&](const BenchmarkRow& candidate) {
      return candidate.name == other && candidate.dims == one.dims;
    });
    if (row == report.rows.end() || !row->comparison || row->comparison->pairs < kLeastPairs ||
        !(row->comparison->ci_low > 0)) {
      ++gain.missing;
      continue;
    }
    const auto& paired = *row->comparison;
    const double speedup = std::min(paired.speedup, paired.speedup_mean.value_or(paired.speedup));
    const double noise = std::log1p(paired.noise_floor);
    const double down = std::hypot(std::log(paired.speedup / paired.ci_low), noise);
    const double up = std::hypot(std::log(paired.ci_high / paired.speedup), noise);
    gain.lowest = gain.cases == 0 ? speedup : std::min(gain.lowest, speedup);
    gain.slower += paired.verdict == Verdict::slower ? 1 : 0;
    gain.doubtful += is_doubtful(paired) ? 1 : 0;
    ++gain.cases;
    logs += one.weight * std::log(speedup);
    weights += one.weight;
    below += std::pow(one.weight * down, 2);
    above += std::pow(one.weight * up, 2);
  }
  if (weights <= 0) return gain;
  gain.geomean = std::exp(logs / weights);
  gain.low = std::exp((logs - std::sqrt(below)) / weights);
  gain.high = std::exp((logs + std::sqrt(above)) / weights);
  return gain;
}

}  // namespace ratchet
