#pragma once

// A comparison with baselines over the workload.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"
#include "server/facts/timing.h"

namespace ratchet {

/// What one call takes from the power supply when calls follow each other, by the GPU's own count
/// of the energy of the whole card, waiting between calls included.
struct CallEnergy {
  double millijoules = 0;  ///< of one call
  double watts = 0;        ///< mean power
  std::int64_t calls = 0;
  double seconds = 0;
  double busy = 0;  ///< share of the time in which the calls ran

  static constexpr void fields(auto&& visit) {
    using C = CallEnergy;
    visit(required<&C::millijoules>("Per call, mJ."), required<&C::watts>("Mean power, W."),
          required<&C::calls>("Calls it was counted over."),
          required<&C::seconds>("Time it was counted over, s."),
          required<&C::busy>("Share of that time in which calls ran."));
  }
};

/// The candidate or an opponent on one case.
struct BenchmarkRow {
  std::string name;    ///< "candidate", "v0", "parent", "pytorch-eager", …
  std::string status;  ///< ok, missing, failed, skipped
  std::optional<std::string> detail;
  std::optional<Timing> timing;
  std::optional<double> speedup_mean;  ///< time of this row ÷ time of the candidate
  std::optional<double> speedup_median;
  std::optional<Comparison> comparison;
  Dims dims;
  std::optional<CallEnergy> energy;  ///< of a sustained session on a GPU

  static constexpr void fields(auto&& visit) {
    using B = BenchmarkRow;
    visit(required<&B::name>("candidate, v0, parent or a baseline."),
          required<&B::status>("ok, missing, failed or skipped."),
          optional<&B::detail>("Why the status is not ok."),
          optional<&B::timing>("Time of this row."),
          optional<&B::speedup_mean>("Mean of this row ÷ mean of the candidate."),
          optional<&B::speedup_median>("Median of this row ÷ median of the candidate."),
          optional<&B::comparison>("Paired comparison, if they were interleaved."),
          required<&B::dims>("Sizes of the case."),
          optional<&B::energy>("Energy of a call, sustained."));
  }
};

/// The candidate against one opponent over the whole workload; only if every case has both times.
struct BenchmarkGain {
  std::string against;
  double geomean = 1;  ///< of the paired speedups, weighted by case
  double best = 1;
  double worst = 1;
  Dims best_dims;
  Dims worst_dims;
  std::optional<double> low;  ///< of the geometric mean's 95 % interval
  std::optional<double> high;

  static constexpr void fields(auto&& visit) {
    using G = BenchmarkGain;
    visit(required<&G::against>("v0, parent or a baseline."),
          required<&G::geomean>("Weighted geometric mean of the speedups."),
          required<&G::best>("Largest speedup of any case."),
          required<&G::worst>("Smallest speedup of any case."),
          required<&G::best_dims>("Sizes of the best case."),
          required<&G::worst_dims>("Sizes of the worst case."),
          optional<&G::low>("95 % interval of the geometric mean, low end."),
          optional<&G::high>("High end."));
  }
};

struct BenchmarkReport {
  std::vector<BenchmarkRow> rows;
  std::optional<double> geomean;               ///< weighted speedup over the workload
  std::optional<std::string> geomean_against;  ///< the first measured baseline, else v0
  std::vector<BenchmarkGain> gains;
  std::vector<std::string> notes;  ///< cases left out and why; contention on the device
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
    visit(required<&B::rows>(), optional<&B::geomean>(), optional<&B::geomean_against>(),
          optional<&B::gains>(), optional<&B::notes>(), required<&B::timing_method>(),
          required<&B::cache_mode>(), required<&B::num_warmup>(), required<&B::num_trials>(),
          required<&B::discard_first>(), required<&B::prewarm_calls>(), required<&B::correct>(),
          required<&B::candidate_digest>(), required<&B::elapsed_ms>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<CallEnergy>();
extern template const FieldTable& table_of<BenchmarkRow>();
extern template const FieldTable& table_of<BenchmarkGain>();
extern template const FieldTable& table_of<BenchmarkReport>();
}  // namespace ratchet::fields_detail
