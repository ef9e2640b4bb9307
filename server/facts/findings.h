#pragma once

// What the server found out about a kernel: build, correctness, time, counters, comparison with
// baselines. Made by `kernels`, recorded and rendered by `server/runs`. A bad kernel is a finding,
// never an error.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A machine-readable reason with its text.
struct Reason {
  std::string code;     ///< snake_case, stable
  std::string message;  ///< one sentence with the numbers
  std::optional<std::string> path;

  static constexpr auto fields() {
    return std::tuple{required("code", &Reason::code, "Stable code."),
                      required("message", &Reason::message, "What and why."),
                      optional("path", &Reason::path, "File concerned.")};
  }
};

struct Diagnostic {
  std::string file;
  int line = 0;  ///< 0 when the compiler named none
  std::string message;

  static constexpr auto fields() {
    return std::tuple{required("file", &Diagnostic::file, ""),
                      required("line", &Diagnostic::line, ""),
                      required("message", &Diagnostic::message, "")};
  }
};

struct BuildRecord {
  bool ok = false;
  std::string source_digest;
  std::string binary_digest;  ///< empty when the build failed
  std::string build_key;  ///< names the cache entry: hash(source, includes, flags, toolkit, arch)
  std::string toolchain;  ///< "nvcc 13.0.88", "g++ 12.2.0"
  std::string command;    ///< without paths of this machine
  std::optional<int> registers;
  std::optional<std::int64_t> shared_bytes;
  std::optional<std::int64_t> spill_bytes;
  std::optional<std::int64_t> stack_bytes;
  std::vector<Diagnostic> warnings;
  std::vector<Diagnostic> errors;
  double build_ms = 0;
  bool cached = false;
  std::optional<std::string> error_class;  ///< missing_header, forbidden_symbol, …; empty when ok
  std::optional<std::string> hint;         ///< the way on; empty when ok

  static constexpr auto fields() {
    using B = BuildRecord;
    return std::tuple{
        required("ok", &B::ok, "Whether it built."),
        required("source_digest", &B::source_digest, "SHA-256 of the source."),
        required("binary_digest", &B::binary_digest, "SHA-256 of the binary."),
        required("build_key", &B::build_key, "Cache key."),
        required("toolchain", &B::toolchain, "Compiler and version."),
        required("command", &B::command, "Compiler command."),
        optional("registers", &B::registers, "Registers per thread, most of any kernel."),
        optional("shared_bytes", &B::shared_bytes, "Static shared memory, bytes."),
        optional("spill_bytes", &B::spill_bytes, "Spill stores and loads, bytes."),
        optional("stack_bytes", &B::stack_bytes, "Stack frame, bytes."),
        required("warnings", &B::warnings, "Compiler warnings."),
        required("errors", &B::errors, "Compiler errors."),
        required("build_ms", &B::build_ms, "Build time, ms."),
        required("cached", &B::cached, "Taken from the build cache."),
                      optional("error_class", &B::error_class, "Kind of failure."),
                      optional("hint", &B::hint, "The way on.")};
  }
};

/// A kernel that can be measured: its source and how it was built.
struct Candidate {
  Source source;
  BuildRecord build;

  static constexpr auto fields() {
    return std::tuple{required("source", &Candidate::source, ""),
                      required("build", &Candidate::build, "")};
  }
};

/// The kernel's own failure while it ran.
struct Fault {
  std::string kind;  ///< crash, timeout, cuda_error, out_of_memory, exit, output_flood, load_error
  std::string message;

  static constexpr auto fields() {
    return std::tuple{required("kind", &Fault::kind, "crash, timeout, cuda_error, exit, …"),
                      required("message", &Fault::message, "What happened.")};
  }
};

struct OutputError {
  std::string tensor;
  double max_abs = 0;
  double max_rel = 0;
  double mean_abs = 0;
  std::int64_t mismatches = 0;
  std::int64_t elements = 0;
  std::optional<std::int64_t> first_bad;  ///< flat index
  std::vector<double> preview_kernel;     ///< first 8 values
  std::vector<double> preview_reference;

  static constexpr auto fields() {
    using O = OutputError;
    return std::tuple{required("tensor", &O::tensor, ""),
                      required("max_abs", &O::max_abs, ""),
                      required("max_rel", &O::max_rel, ""),
                      required("mean_abs", &O::mean_abs, ""),
                      required("mismatches", &O::mismatches, ""),
                      required("elements", &O::elements, ""),
                      optional("first_bad", &O::first_bad, ""),
                      required("preview_kernel", &O::preview_kernel, ""),
                      required("preview_reference", &O::preview_reference, "")};
  }
};

struct CaseResult {
  Dims dims;
  int seed = 0;              ///< index of the secret seed, not the seed
  std::string distribution;  ///< normal, shifted, large
  bool hidden = false;
  bool passed = false;
  double max_abs = 0;
  double max_rel = 0;
  std::int64_t mismatches = 0;
  std::vector<OutputError> outputs;

  static constexpr auto fields() {
    using C = CaseResult;
    return std::tuple{required("dims", &C::dims, "Sizes."),
                      required("seed", &C::seed, "Index of the secret seed."),
                      required("distribution", &C::distribution, "Input distribution."),
                      optional("hidden", &C::hidden, "A case the server added."),
                      required("passed", &C::passed, "All outputs within tolerance."),
                      required("max_abs", &C::max_abs, "Largest absolute error."),
                      required("max_rel", &C::max_rel, "Largest relative error."),
                      required("mismatches", &C::mismatches, "Elements out of tolerance."),
                      required("outputs", &C::outputs, "Per output tensor.")};
  }
};

struct CorrectnessReport {
  bool passed = false;
  std::vector<CaseResult> cases;
  std::vector<Reason> reasons;  ///< why it failed; empty when passed
  std::vector<Reason> notes;    ///< weaker claims: fixed seed, no sandbox, non-repeatable, …
  std::optional<Fault> fault;
  double atol = 0;
  double rtol = 0;
  bool repeatable = true;  ///< bitwise equal when run twice on the same input
  double elapsed_ms = 0;
  std::string candidate_digest;

  static constexpr auto fields() {
    using C = CorrectnessReport;
    return std::tuple{
        required("passed", &C::passed, "Verdict."),
        required("cases", &C::cases, "One per case, seed and distribution."),
        required("reasons", &C::reasons, "Why it failed."),
        required("notes", &C::notes, "What weakens the claim."),
        optional("fault", &C::fault, "The kernel's own failure."),
        required("atol", &C::atol, "Absolute tolerance."),
        required("rtol", &C::rtol, "Relative tolerance."),
        required("repeatable", &C::repeatable, "Bitwise equal when repeated."),
        required("elapsed_ms", &C::elapsed_ms, "Wall time, ms."),
        required("candidate_digest", &C::candidate_digest, "Binary that was checked.")};
  }
};

enum class Verdict { baseline, faster, slower, same, inconclusive, incorrect, invalid };
constexpr auto enum_names(Verdict) {
  using enum Verdict;
  return std::array{std::pair{baseline, "baseline"},
                    std::pair{faster, "faster"},
                    std::pair{slower, "slower"},
                    std::pair{same, "same"},
                    std::pair{inconclusive, "inconclusive"},
                    std::pair{incorrect, "incorrect"},
                    std::pair{invalid, "invalid"}};
}

enum class CacheMode { cold, hot };
constexpr auto enum_names(CacheMode) {
  return std::array{std::pair{CacheMode::cold, "cold"}, std::pair{CacheMode::hot, "hot"}};
}

/// Summary of the samples of one kernel on one case.
struct Timing {
  Nanoseconds median, ci_low, ci_high;  ///< 95 % distribution-free interval of the median
  Nanoseconds mean, std, min, max, p20, p80;
  int samples = 0;
  int discarded = 0;  ///< throttled or first samples
  CacheMode cache_mode = CacheMode::cold;
  std::optional<Megahertz> clock;  ///< mean SM or core clock over the samples
  std::string stop_reason;         ///< interval_reached, time_limit or sample_limit
  std::vector<std::string> flags;  ///< launch_gap_included, implausibly_fast, …

  static constexpr auto fields() {
    using T = Timing;
    return std::tuple{
        required("median_ns", &T::median, "Median time per call, ns."),
        required("ci_low_ns", &T::ci_low, "95 % interval of the median, low end, ns."),
        required("ci_high_ns", &T::ci_high, "High end, ns."),
        required("mean_ns", &T::mean, "Mean, ns."),
        required("std_ns", &T::std, "Sample standard deviation, ns."),
        required("min_ns", &T::min, "Least, ns."),
        required("max_ns", &T::max, "Most, ns."),
        required("p20_ns", &T::p20, "20th percentile, ns."),
        required("p80_ns", &T::p80, "80th percentile, ns."),
        required("samples", &T::samples, "Samples kept."),
        required("discarded", &T::discarded, "Samples thrown away."),
        required("cache_mode", &T::cache_mode, "cold: caches flushed before each call."),
        optional("clock_mhz", &T::clock, "Clock during the samples, MHz."),
        required("stop_reason", &T::stop_reason, "Why sampling ended."),
        required("flags", &T::flags, "Caveats.")};
  }
};

/// A paired, interleaved comparison; speed-ups are other ÷ candidate.
struct Comparison {
  std::string against;  ///< "parent", "v0" or a baseline's name
  double speedup = 1;
  double ci_low = 1;
  double ci_high = 1;
  int pairs = 0;
  double noise_floor = 0;  ///< as a fraction: 0.005 = 0.5 %
  Verdict verdict = Verdict::inconclusive;

  static constexpr auto fields() {
    using C = Comparison;
    return std::tuple{
        required("against", &C::against, "What it was compared with."),
        required("speedup", &C::speedup, "Median of paired ratios, other ÷ candidate."),
        required("ci_low", &C::ci_low, "95 % interval, low end."),
        required("ci_high", &C::ci_high, "High end."),
        required("pairs", &C::pairs, "Interleaved pairs."),
        required("noise_floor", &C::noise_floor, "Fraction below which ratios are noise."),
        required("verdict", &C::verdict, "From the interval, not from two means.")};
  }
};

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

  static constexpr auto fields() {
    return std::tuple{required("name", &KernelCounters::name, "Kernel name."),
                      required("metrics", &KernelCounters::metrics, "Values by metric name.")};
  }
};

/// One diagnosed fact with the numbers it rests on and where to read on.
struct DiagnosisFinding {
  std::string id;  ///< id of the pattern page in our wiki, e.g. "pattern-tail-effect"
  std::string title;
  std::string evidence;  ///< metric names and values
  double headroom = 0;   ///< estimated fraction of the time that could go, 0..1
  std::string query;     ///< a knowledge query that fits

  static constexpr auto fields() {
    using D = DiagnosisFinding;
    return std::tuple{required("id", &D::id, "Pattern page."), required("title", &D::title, ""),
                      required("evidence", &D::evidence, "Numbers used."),
                      required("headroom", &D::headroom, "Share of the time, estimated."),
                      required("query", &D::query, "Knowledge query that fits.")};
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

  static constexpr auto fields() {
    using R = Roofline;
    return std::tuple{optional("intensity", &R::intensity, "FLOP per byte."),
                      optional("achieved_bytes_per_s", &R::achieved_bytes_per_s, "Bytes/s."),
                      optional("achieved_flops_per_s", &R::achieved_flops_per_s, "FLOP/s."),
                      optional("bandwidth_ceiling", &R::bandwidth_ceiling, "Measured, bytes/s."),
                      optional("compute_ceiling", &R::compute_ceiling, "Measured, FLOP/s."),
                      optional("bandwidth_fraction", &R::bandwidth_fraction, "Of the ceiling."),
                      optional("compute_fraction", &R::compute_fraction, "Of the ceiling."),
                      required("binding", &R::binding, "Nearest roof."),
                      required("source", &R::source, "declared_work or counters.")};
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
  std::string engine;      ///< cupti, perf_event or none
  std::string metric_set;  ///< lean, overview, …
  std::string cache;       ///< flushed or as_is, of the counter passes
  int launches = 0;        ///< kernel launches per call; 0 when unknown
  bool degraded = false;
  std::optional<std::string> degraded_reason;
  std::optional<Fault> fault;
  std::vector<Reason> reasons;  ///< why `invalid`
  std::string candidate_digest;
  double elapsed_ms = 0;

  static constexpr auto fields() {
    using P = Profile;
    return std::tuple{required("timing", &P::timing, "Of the candidate."),
                      required("comparisons", &P::comparisons, "Paired, against parent and v0."),
                      required("verdict", &P::verdict, "Against the parent."),
                      required("metrics", &P::metrics, "Device-independent metrics."),
                      required("kernels", &P::kernels, "Counters per kernel."),
                      required("unknown_metrics", &P::unknown_metrics, "Names this chip lacks."),
                      required("bound", &P::bound, "What limits the kernel."),
                      required("bound_evidence", &P::bound_evidence, "Numbers behind it."),
                      required("findings", &P::findings, "Diagnosis, by headroom."),
                      required("roofline", &P::roofline, "Position under the roofs."),
                      required("engine", &P::engine, "Counter engine."),
                      required("metric_set", &P::metric_set, "Counter set."),
                      required("cache", &P::cache, "Cache state of the counter passes."),
                      required("launches", &P::launches, "Kernel launches per call."),
                      required("degraded", &P::degraded, "Counters are missing."),
                      optional("degraded_reason", &P::degraded_reason, "Why, and how to mend it."),
                      optional("fault", &P::fault, "The kernel's own failure."),
                      required("reasons", &P::reasons, "Why the timing is invalid."),
                      required("candidate_digest", &P::candidate_digest, "Binary measured."),
                      required("elapsed_ms", &P::elapsed_ms, "Wall time, ms.")};
  }
};

/// One line of the final comparison.
struct BenchmarkRow {
  std::string name;    ///< "candidate", "v0", "parent", "pytorch-eager", …
  std::string status;  ///< ok, missing, failed
  std::optional<std::string> detail;
  std::optional<Timing> timing;
  std::optional<double> speedup_mean;  ///< row's time ÷ candidate's
  std::optional<double> speedup_median;
  std::optional<Comparison> comparison;
  Dims dims;

  static constexpr auto fields() {
    using B = BenchmarkRow;
    return std::tuple{
        required("name", &B::name, ""),
        required("status", &B::status, "ok, missing or failed."),
        optional("detail", &B::detail, "Why not ok."),
        optional("timing", &B::timing, ""),
        optional("speedup_mean", &B::speedup_mean, "Row ÷ candidate, of means."),
        optional("speedup_median", &B::speedup_median, "Row ÷ candidate, of medians."),
        optional("comparison", &B::comparison, "Paired, where interleaved."),
        required("dims", &B::dims, "Case.")};
  }
};

struct BenchmarkReport {
  std::vector<BenchmarkRow> rows;
  std::optional<double> geomean;  ///< of candidate against the first baseline over W, weighted
  std::string timing_method;      ///< cuda_event, steady_clock or host_time
  CacheMode cache_mode = CacheMode::cold;
  int num_warmup = 5;
  int num_trials = 100;
  int discard_first = 1;
  int prewarm_calls = 1;
  bool correct = false;  ///< the candidate's outputs, checked again before timing
  std::string candidate_digest;
  double elapsed_ms = 0;

  static constexpr auto fields() {
    using B = BenchmarkReport;
    return std::tuple{required("rows", &B::rows, ""),
                      optional("geomean", &B::geomean, ""),
                      required("timing_method", &B::timing_method, ""),
                      required("cache_mode", &B::cache_mode, ""),
                      required("num_warmup", &B::num_warmup, ""),
                      required("num_trials", &B::num_trials, ""),
                      required("discard_first", &B::discard_first, ""),
                      required("prewarm_calls", &B::prewarm_calls, ""),
                      required("correct", &B::correct, ""),
                      required("candidate_digest", &B::candidate_digest, ""),
                      required("elapsed_ms", &B::elapsed_ms, "")};
  }
};

}  // namespace ratchet
