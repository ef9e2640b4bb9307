#pragma once

// A profile: time, counters per kernel, diagnosis and position under the roofline.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/build.h"
#include "server/facts/correctness.h"
#include "server/facts/diagnosis_finding.h"
#include "server/facts/hotspots.h"
#include "server/facts/roofline_report.h"
#include "server/facts/timing.h"
#include "server/facts/value_search.h"
#include "server/facts/value_time.h"

namespace ratchet {

enum class Bound { memory, compute, latency, occupancy, launch, mixed, unknown };
constexpr auto enum_names(Bound) {
  using enum Bound;
  return as_written<memory, compute, latency, occupancy, launch, mixed, unknown>();
}

struct KernelCounters {
  std::string name;
  std::map<std::string, double> metrics;  ///< by the names that ncu uses

  static constexpr void fields(auto&& visit) {
    visit(required<&KernelCounters::name>("Kernel name."),
          required<&KernelCounters::metrics>("Values by metric name."));
  }
};

/// The position of a kernel under the measured roofs of its device.
struct Roofline {
  std::optional<double> intensity;  ///< FLOP per byte
  std::optional<double> achieved_bytes_per_s;
  std::optional<double> achieved_flops_per_s;
  std::optional<double> bandwidth_ceiling;   ///< measured, bytes/s
  std::optional<double> compute_ceiling;     ///< measured, FLOP/s of the work's type
  std::optional<double> bandwidth_fraction;  ///< of the ceiling, 0..1
  std::optional<double> compute_fraction;
  std::string binding;  ///< memory, compute or unknown
  std::string source;   ///< declared_work or counters

  static constexpr void fields(auto&& visit) {
    using R = Roofline;
    visit(optional<&R::intensity>("FLOP per byte."),
          optional<&R::achieved_bytes_per_s>("Achieved bytes/s."),
          optional<&R::achieved_flops_per_s>("Achieved FLOP/s."),
          optional<&R::bandwidth_ceiling>("Measured bandwidth roof, bytes/s."),
          optional<&R::compute_ceiling>("Measured compute roof, FLOP/s."),
          optional<&R::bandwidth_fraction>("Share of the bandwidth roof."),
          optional<&R::compute_fraction>("Share of the compute roof."),
          required<&R::binding>("The nearest roof: memory, compute or unknown."),
          required<&R::source>("Source of the work: declared_work or counters."));
  }
};

/// Which counters to read.
enum class MetricSet { lean, overview, full, stalls };
constexpr auto enum_names(MetricSet) {
  using enum MetricSet;
  return as_written<lean, overview, full, stalls>();
}

/// Which program reads the counters.
enum class CounterEngine { cupti, ncu };
constexpr auto enum_names(CounterEngine) {
  return as_written<CounterEngine::cupti, CounterEngine::ncu>();
}

/// A tool's report file, stored with a version's artifacts.
struct ReportFile {
  std::string name;    ///< of the file
  std::string digest;  ///< SHA-256
  std::int64_t bytes = 0;
  std::string tool;     ///< program and version
  std::string content;  ///< the file itself; not part of the record

  static constexpr void fields(auto&& visit) {
    using R = ReportFile;
    visit(required<&R::name>("File name in the version's folder."),
          required<&R::digest>("SHA-256."), required<&R::bytes>("Size in bytes."),
          required<&R::tool>("Program and version."));
  }
};

struct Profile {
  Timing timing;
  std::vector<Comparison> comparisons;    ///< against parent, v0 and best; empty for v0
  Verdict verdict = Verdict::baseline;    ///< against the parent
  std::map<std::string, double> metrics;  ///< median_ns, and achieved rates where work is declared
  std::vector<KernelCounters> kernels;    ///< per kernel, never merged
  std::vector<std::string> unknown_metrics;
  Bound bound = Bound::unknown;
  std::string bound_evidence;
  std::vector<DiagnosisFinding> findings;
  Roofline roofline;
  std::optional<RooflineReport> roofs;          ///< all roofs, by memory level and arithmetic type
  std::optional<Hotspots> hotspots;             ///< if requested (metric set stalls)
  std::optional<ReportFile> report;             ///< of engine ncu
  std::vector<std::string> exceptions;          ///< sandbox rules that were lifted for ncu
  std::string engine;                           ///< cupti, ncu, perf_event or none
  std::string metric_set;                       ///< lean, overview, …
  std::string cache;                            ///< flushed or as_is, during the counter passes
  std::optional<std::string> counted_together;  ///< why all launches were counted as one
  int launches = 0;                             ///< kernel launches per call; 0 when unknown
  bool degraded = false;
  std::optional<std::string> degraded_reason;
  std::optional<Fault> fault;
  std::vector<Reason> reasons;                        ///< why `invalid`
  std::optional<std::string> best_version;            ///< the best one when it was timed; "v2"
  std::optional<std::vector<ValueTime>> over_values;  ///< other distributions than normal
  std::optional<ValueRange> time_depends_on_values;
  std::optional<double> own_noise;    ///< by how much two of its processes surely differ
  std::optional<ValueSearch> search;  ///< for values that change its time, if asked for
  std::string candidate_digest;
  std::optional<double> timing_ms;  ///< the part of elapsed_ms spent on timing and comparing
  double elapsed_ms = 0;

  static constexpr void fields(auto&& visit) {
    using P = Profile;
    visit(required<&P::timing>("Time of the candidate."),
          required<&P::comparisons>("Paired comparisons with parent, v0 and the best version."),
          required<&P::verdict>("Against the parent."),
          required<&P::metrics>("Device-independent metrics."),
          required<&P::kernels>("Counters per kernel."),
          required<&P::unknown_metrics>("Requested counters that this device does not have."),
          required<&P::bound>("What limits the kernel."),
          required<&P::bound_evidence>("The numbers behind it."),
          required<&P::findings>("Diagnosis, most headroom first."),
          required<&P::roofline>("Position under the measured roofs."),
          optional<&P::roofs>("All roofs, by memory level and arithmetic type."),
          optional<&P::hotspots>("Where warps wait."), optional<&P::report>("The report of ncu."),
          optional<&P::exceptions>("Sandbox rules that were lifted for ncu."),
          required<&P::engine>("Counter engine."), required<&P::metric_set>("Counter set."),
          required<&P::cache>("Cache state of the counter passes."),
          optional<&P::counted_together>("Why all launches of a call were counted as one."),
          required<&P::launches>("Kernel launches per call."),
          required<&P::degraded>("Hardware counters are missing."),
          optional<&P::degraded_reason>("Why they are missing and how to fix it."),
          optional<&P::fault>("The failure of the kernel itself."),
          required<&P::reasons>("Why the timing is invalid."),
          required<&P::candidate_digest>("SHA-256 of the measured binary."),
          optional<&P::best_version>("The best version when it was timed."),
          optional<&P::over_values>("Times on the check's other input values."),
          optional<&P::time_depends_on_values>("The range of times, if values change it."),
          optional<&P::own_noise>("By what fraction two processes of it differ, beyond the noise."),
          optional<&P::search>("A search for input values that change its time."),
          optional<&P::timing_ms>("Part of elapsed_ms for timing and comparing."),
          required<&P::elapsed_ms>("Wall time, ms."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<KernelCounters>();
extern template const FieldTable& table_of<Roofline>();
extern template const FieldTable& table_of<ReportFile>();
extern template const FieldTable& table_of<Profile>();
}  // namespace ratchet::fields_detail
