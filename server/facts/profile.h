#pragma once

// A profile: time, counters per kernel, diagnosis and the place under the roofline.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/field.h"
#include "server/facts/build.h"
#include "server/facts/correctness.h"
#include "server/facts/hotspots.h"
#include "server/facts/roofline_report.h"
#include "server/facts/timing.h"

namespace ratchet {

enum class Bound { memory, compute, latency, occupancy, launch, mixed, unknown };
constexpr auto enum_names(Bound) {
  using enum Bound;
  return std::array{std::pair{memory, "memory"},   std::pair{compute, "compute"},
                    std::pair{latency, "latency"}, std::pair{occupancy, "occupancy"},
                    std::pair{launch, "launch"},   std::pair{mixed, "mixed"},
                    std::pair{unknown, "unknown"}};
}

struct KernelCounters {
  std::string name;
  std::map<std::string, double> metrics;  ///< by the names that ncu uses

  static constexpr void fields(auto&& visit) {
    visit(required("name", &KernelCounters::name, "Kernel name."),
          required("metrics", &KernelCounters::metrics, "Values by metric name."));
  }
};

/// How far beyond their thresholds the numbers of a rule are.
enum class Confidence { low, medium, high };
constexpr auto enum_names(Confidence) {
  return std::array{std::pair{Confidence::low, "low"}, std::pair{Confidence::medium, "medium"},
                    std::pair{Confidence::high, "high"}};
}

/// One diagnosed fact with the numbers it rests on and where to read on.
struct DiagnosisFinding {
  std::string id;  ///< id of the pattern page in our wiki, e.g. "pattern-tail-effect"
  std::string title;
  std::string evidence;  ///< metric names and values
  double headroom = 0;   ///< estimated fraction of the time that could go, 0..1
  std::string query;     ///< a knowledge query that fits
  Confidence confidence = Confidence::medium;
  std::vector<std::string> methods;  ///< ids of methods that treat it, best first

  static constexpr void fields(auto&& visit) {
    using D = DiagnosisFinding;
    visit(required("id", &D::id, "Pattern page."), required("title", &D::title, ""),
          required("evidence", &D::evidence, "Numbers used."),
          required("headroom", &D::headroom, "Share of the time, estimated."),
          required("query", &D::query, "Knowledge query that fits."),
          optional("confidence", &D::confidence, "low, medium or high."),
          optional("methods", &D::methods, "Methods that treat it."));
  }
};

/// Where a kernel stands under the measured roofs of its device.
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
    visit(optional("intensity", &R::intensity, "FLOP per byte."),
          optional("achieved_bytes_per_s", &R::achieved_bytes_per_s, "Bytes/s."),
          optional("achieved_flops_per_s", &R::achieved_flops_per_s, "FLOP/s."),
          optional("bandwidth_ceiling", &R::bandwidth_ceiling, "Measured, bytes/s."),
          optional("compute_ceiling", &R::compute_ceiling, "Measured, FLOP/s."),
          optional("bandwidth_fraction", &R::bandwidth_fraction, "Of the ceiling."),
          optional("compute_fraction", &R::compute_fraction, "Of the ceiling."),
          required("binding", &R::binding, "Nearest roof."),
          required("source", &R::source, "declared_work or counters."));
  }
};

/// Which counters to read.
enum class MetricSet { lean, overview, full, stalls };
constexpr auto enum_names(MetricSet) {
  return std::array{std::pair{MetricSet::lean, "lean"}, std::pair{MetricSet::overview, "overview"},
                    std::pair{MetricSet::full, "full"}, std::pair{MetricSet::stalls, "stalls"}};
}

/// Which program read the counters.
enum class CounterEngine { cupti, ncu };
constexpr auto enum_names(CounterEngine) {
  return std::array{std::pair{CounterEngine::cupti, "cupti"}, std::pair{CounterEngine::ncu, "ncu"}};
}

/// A report of a tool, kept among a version's artifacts.
struct ReportFile {
  std::string name;    ///< of the file
  std::string digest;  ///< SHA-256
  std::int64_t bytes = 0;
  std::string tool;     ///< program and version
  std::string content;  ///< the file itself; travels beside the record, not in it

  static constexpr void fields(auto&& visit) {
    using R = ReportFile;
    visit(required("name", &R::name, "File in the version's folder."),
          required("digest", &R::digest, "SHA-256."), required("bytes", &R::bytes, "Its size."),
          required("tool", &R::tool, "Program and version."));
  }
};

struct Profile {
  Timing timing;
  std::vector<Comparison> comparisons;  ///< against parent and v0; empty for v0
  Verdict verdict = Verdict::baseline;  ///< against the parent
  std::map<std::string, double>
      metrics;  ///< always there: median_ns, and achieved rates where work is declared
  std::vector<KernelCounters> kernels;  ///< per kernel, never merged
  std::vector<std::string> unknown_metrics;
  Bound bound = Bound::unknown;
  std::string bound_evidence;
  std::vector<DiagnosisFinding> findings;
  Roofline roofline;
  std::optional<RooflineReport> roofs;  ///< the same, level by level and by type
  std::optional<Hotspots> hotspots;     ///< where they were asked for (metric set stalls)
  std::optional<ReportFile> report;     ///< of engine ncu
  std::vector<std::string> exceptions;  ///< what ncu's process had that a candidate's has not
  std::string engine;                   ///< cupti, ncu, perf_event or none
  std::string metric_set;               ///< lean, overview, …
  std::string cache;                    ///< flushed or as_is, of the counter passes
  std::optional<std::string> counted_together;  ///< why the launches were counted as one
  int launches = 0;                             ///< kernel launches per call; 0 when unknown
  bool degraded = false;
  std::optional<std::string> degraded_reason;
  std::optional<Fault> fault;
  std::vector<Reason> reasons;  ///< why `invalid`
  std::string candidate_digest;
  std::optional<double> timing_ms;  ///< of elapsed_ms, what timing and comparing took
  double elapsed_ms = 0;

  static constexpr void fields(auto&& visit) {
    using P = Profile;
    visit(required("timing", &P::timing, "Of the candidate."),
          required("comparisons", &P::comparisons, "Paired, against parent and v0."),
          required("verdict", &P::verdict, "Against the parent."),
          required("metrics", &P::metrics, "Device-independent metrics."),
          required("kernels", &P::kernels, "Counters per kernel."),
          required("unknown_metrics", &P::unknown_metrics, "Names this chip lacks."),
          required("bound", &P::bound, "What limits the kernel."),
          required("bound_evidence", &P::bound_evidence, "Numbers behind it."),
          required("findings", &P::findings, "Diagnosis, by headroom."),
          required("roofline", &P::roofline, "Position under the roofs."),
          optional("roofs", &P::roofs, "The roofs, level by level."),
          optional("hotspots", &P::hotspots, "Where warps wait."),
          optional("report", &P::report, "The engine's own report."),
          optional("exceptions", &P::exceptions, "From the sandbox, for the engine."),
          required("engine", &P::engine, "Counter engine."),
          required("metric_set", &P::metric_set, "Counter set."),
          required("cache", &P::cache, "Cache state of the counter passes."),
          optional("counted_together", &P::counted_together,
                   "Why all launches of a call were counted as one."),
          required("launches", &P::launches, "Kernel launches per call."),
          required("degraded", &P::degraded, "Counters are missing."),
          optional("degraded_reason", &P::degraded_reason, "Why, and how to mend it."),
          optional("fault", &P::fault, "The kernel's own failure."),
          required("reasons", &P::reasons, "Why the timing is invalid."),
          required("candidate_digest", &P::candidate_digest, "Binary measured."),
          optional("timing_ms", &P::timing_ms, "Timing and comparing alone, ms."),
          required("elapsed_ms", &P::elapsed_ms, "Wall time, ms."));
  }
};

}  // namespace ratchet
