#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"
#include "server/facts/task.h"

namespace ratchet {

/// Where the laboratory finds its parts and keeps its cache.
struct LabOptions {
  std::filesystem::path state_dir;   ///< build cache, calibration, device locks live below it
  std::filesystem::path worker_dir;  ///< holds ratchet-worker and ratchet-worker-cuda
  std::filesystem::path data_dir;    ///< holds problems/, python/ and cuda/
  std::string python = "python3";    ///< interpreter of ref.py and of .py kernels
  std::string version;               ///< of ratchet, shown by `environment`
  std::chrono::milliseconds job_deadline{60'000};  ///< of one call of a kernel, and of a reference
  std::chrono::milliseconds timing_limit{
      10'000};  ///< of one timing session that cannot get precise
};

enum class MetricSet { lean, overview, full, stalls };
constexpr auto enum_names(MetricSet) {
  return std::array{std::pair{MetricSet::lean, "lean"}, std::pair{MetricSet::overview, "overview"},
                    std::pair{MetricSet::full, "full"}, std::pair{MetricSet::stalls, "stalls"}};
}

struct ProfileRequest {
  const Candidate* candidate = nullptr;
  const Candidate* parent = nullptr;  ///< null for v0
  const Candidate* v0 = nullptr;      ///< null for v0, or when it is the parent
  MetricSet metrics = MetricSet::overview;
};

/// What to compare the candidate with; the flags and defaults of the kernel-benchmark package.
struct BenchmarkRequest {
  const Candidate* candidate = nullptr;
  const Candidate* parent = nullptr;  ///< may be null
  const Candidate* v0 = nullptr;      ///< may be null
  std::vector<std::string> baselines;
  int num_warmup = 5;
  int num_trials = 100;
  int discard_first = 1;
  int prewarm_calls = 1;
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
};

/// A call to be watched by compute-sanitizer.
struct SanitizeRequest {
  const Candidate* candidate = nullptr;
  std::vector<SanitizerTool> tools;
  std::optional<Dims> dims;  ///< some or all sizes; empty: the smallest given case
};

/// A shipped problem, ready to be planned: its task with the sources filled in.
struct Problem {
  TaskRequest task;
  Source kernel;
  Source reference;
};

/// A measured roof of a device.
struct Ceiling {
  std::string what;  ///< copy_bandwidth, read_bandwidth, fp32, …
  double value = 0;
  std::string unit;  ///< B/s or FLOP/s

  static constexpr auto fields() {
    return std::tuple{required("what", &Ceiling::what, ""), required("value", &Ceiling::value, ""),
                      required("unit", &Ceiling::unit, "B/s or FLOP/s.")};
  }
};

/// Builds, checks, times and profiles kernels in isolated worker processes.
///
/// Thread rule: all methods may be called from several threads; measuring ones queue per device
/// (one job a device, with an operating-system lock across servers). Nothing is retried silently.
/// Secrets go to workers by pipe, never by argument or environment.
/// Errors are ours (no compiler, no worker, cancelled); whatever the kernel does wrong is a finding
/// in the returned record.
class Lab {
 public:
  static Result<std::unique_ptr<Lab>> open(LabOptions options);
  virtual ~Lab() = default;

  /// Probes devices, toolchains and counter permission (a real one-kernel profile).
  virtual Result<Environment> environment(int device, CallContext& call) = 0;

  /// A shipped problem, for the given implementation or the best one this machine can run.
  virtual Result<Problem> problem(const std::string& name,
                                  const std::optional<std::string>& implementation) = 0;
  [[nodiscard]] virtual std::vector<std::string> problem_names() const = 0;

  /// Parses the signature, infers what was not given and freezes it all. Errors say which parameter
  /// or field to change.
  virtual Result<Contract> plan(const TaskRequest& task, const Source& kernel,
                                const Source& reference) = 0;

  /// Builds (or finds in the cache). A compiler error is `build.ok == false`.
  virtual Result<Candidate> build(const Contract& contract, Source source, CallContext& call) = 0;

  /// Builds the reference and tries it. Names what weakens the contract, and tasks that are too
  /// weak: control answers (zero, constant, identity, lower precision) that would pass, inputs that
  /// do not matter. Errors: the reference does not build, raises, or writes nothing.
  virtual Result<std::vector<Reason>> admit(const Contract& contract, std::string_view run_secret,
                                            CallContext& call) = 0;

  virtual Result<CorrectnessReport> check(const Contract& contract, const Candidate& candidate,
                                          std::string_view run_secret, CallContext& call) = 0;

  /// Times (paired against parent and v0), then counts in a separate process, then diagnoses.
  virtual Result<Profile> profile(const Contract& contract, const ProfileRequest& request,
                                  std::string_view run_secret, CallContext& call) = 0;

  virtual Result<BenchmarkReport> benchmark(const Contract& contract,
                                            const BenchmarkRequest& request,
                                            std::string_view run_secret, CallContext& call) = 0;

  /// One call a tool, on inputs that no check or timing uses, every buffer in an allocation of its
  /// own. Advice: no verdict and no time comes of it. Errors: `unavailable` where there is no
  /// compute-sanitizer, and for kernels that it cannot watch.
  virtual Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                           CallContext& call) = 0;

  /// Measured roofs, cached by device, driver and clocks.
  virtual Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                                CallContext& call) = 0;
};

}  // namespace ratchet
