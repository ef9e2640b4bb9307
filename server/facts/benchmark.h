#pragma once

// The comparison with baselines over the workload.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"
#include "server/facts/timing.h"

namespace ratchet {

/// One line of the final comparison.
struct BenchmarkRow {
  std::string name;    ///< "candidate", "v0", "parent", "pytorch-eager", …
  std::string status;  ///< ok, missing, failed, skipped
  std::optional<std::string> detail;
  std::optional<Timing> timing;
  std::optional<double> speedup_mean;  ///< row's time ÷ candidate's
  std::optional<double> speedup_median;
  std::optional<Comparison> comparison;
  Dims dims;

  static constexpr void fields(auto&& visit) {
    using B = BenchmarkRow;
    visit(required("name", &B::name, ""),
          required("status", &B::status, "ok, missing, failed or skipped."),
          optional("detail", &B::detail, "Why not ok."), optional("timing", &B::timing, ""),
          optional("speedup_mean", &B::speedup_mean, "Row ÷ candidate, of means."),
          optional("speedup_median", &B::speedup_median, "Row ÷ candidate, of medians."),
          optional("comparison", &B::comparison, "Paired, where interleaved."),
          required("dims", &B::dims, "Case."));
  }
};

/// The candidate against one other over the whole workload; only where every case has both.
struct BenchmarkGain {
  std::string against;
  double geomean = 1;  ///< of the paired speed-ups, by the cases' weights
  double best = 1;
  double worst = 1;
  Dims best_dims;
  Dims worst_dims;

  static constexpr void fields(auto&& visit) {
    using G = BenchmarkGain;
    visit(required("against", &G::against, "v0, parent or a baseline."),
          required("geomean", &G::geomean, "Weighted geometric mean of speed-ups."),
          required("best", &G::best, "Largest speed-up of a case."),
          required("worst", &G::worst, "Smallest."),
          required("best_dims", &G::best_dims, "Its case."),
          required("worst_dims", &G::worst_dims, "Its case."));
  }
};

struct BenchmarkReport {
  std::vector<BenchmarkRow> rows;
  std::optional<double> geomean;               ///< of candidate against one other over W, weighted
  std::optional<std::string> geomean_against;  ///< first measured baseline, else v0
  std::vector<BenchmarkGain> gains;
  std::vector<std::string> notes;  ///< cases left out and why, who else used the device
  std::string timing_method;       ///< cuda_event, steady_clock or host_time
  CacheMode cache_mode = CacheMode::cold;
  int num_warmup = 5;
  int num_trials = 100;
  int discard_first = 1;
  int prewarm_calls = 1;
  bool correct = false;  ///< the candidate's outputs, checked again before timing
  std::string candidate_digest;
  double elapsed_ms = 0;

  static constexpr void fields(auto&& visit) {
    using B = BenchmarkReport;
    visit(required("rows", &B::rows, ""), optional("geomean", &B::geomean, ""),
          optional("geomean_against", &B::geomean_against, ""), optional("gains", &B::gains, ""),
          optional("notes", &B::notes, ""), required("timing_method", &B::timing_method, ""),
          required("cache_mode", &B::cache_mode, ""), required("num_warmup", &B::num_warmup, ""),
          required("num_trials", &B::num_trials, ""),
          required("discard_first", &B::discard_first, ""),
          required("prewarm_calls", &B::prewarm_calls, ""), required("correct", &B::correct, ""),
          required("candidate_digest", &B::candidate_digest, ""),
          required("elapsed_ms", &B::elapsed_ms, ""));
  }
};

}  // namespace ratchet
