#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/lab_requests.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"
#include "server/facts/imported_profile.h"
#include "server/facts/roofline_report.h"
#include "server/facts/task.h"
#include "server/facts/version_diff.h"

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
      10'000};             ///< of one timing session that cannot get precise
  int noise_sessions = 4;  ///< comparisons that calibrate a device's noise; 0: none
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

  /// Probes toolchains, counter permission (a real one-kernel profile), the host and that GPU, or
  /// all GPUs. Errors: a GPU that was asked for is not there.
  virtual Result<Environment> environment(std::optional<int> device, CallContext& call) = 0;

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
  virtual Result<std::vector<Reason>> validate_task(const Contract& contract,
                                                    std::string_view run_secret,
                                                    CallContext& call) = 0;

  virtual Result<CorrectnessReport> check(const Contract& contract, const Candidate& candidate,
                                          std::string_view run_secret, CallContext& call) = 0;

  /// Times (paired against parent and v0), then counts in a separate process, then diagnoses.
  virtual Result<Profile> profile(const Contract& contract, const ProfileRequest& request,
                                  std::string_view run_secret, CallContext& call) = 0;

  /// Reads a report of Nsight Compute, or CSV of one, which is nobody's measurement of ours, and
  /// says whether it is of this binary: one that we wrote ourselves, or one that holds its code.
  /// Errors: `not_found` and `too_large` for the file, `invalid_argument` for one that is damaged
  /// or none of ncu's, `unavailable` for a report file without ncu.
  virtual Result<ImportedProfile> import_profile(const Contract& contract,
                                                 const ImportRequest& request,
                                                 CallContext& call) = 0;

  virtual Result<BenchmarkReport> benchmark(const Contract& contract,
                                            const BenchmarkRequest& request,
                                            std::string_view run_secret, CallContext& call) = 0;

  /// One call a tool, on inputs that no check or timing uses, every buffer in an allocation of its
  /// own. Advice: no verdict and no time comes of it. Errors: `unavailable` where there is no
  /// compute-sanitizer, and for kernels that it cannot watch.
  virtual Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                           CallContext& call) = 0;

  /// Machine code of the very binary that is measured: SASS, or the host's own. Errors:
  /// `unavailable` without a disassembler, `not_found` for a function it has not.
  virtual Result<Disassembly> disassemble(const Contract& contract, const Candidate& candidate,
                                          const DisassemblyRequest& request, CallContext& call) = 0;

  /// Which methods show in a candidate's code, against its parent's (null: none). No ids: all of
  /// the registry. Without a disassembler, and on the host, everything is `unknown`, and says why.
  /// Errors: `not_found` for an id that the registry does not have.
  virtual Result<SassCheck> check_sass(const Contract& contract, const Candidate& candidate,
                                       const Candidate* parent, const std::vector<std::string>& ids,
                                       CallContext& call) = 0;

  /// Where a profiled kernel stands under the measured roofs, level by level. Measures the roofs
  /// where they are not known yet.
  virtual Result<RooflineReport> roofline(const Contract& contract, const Profile& profile,
                                          CallContext& call) = 0;

  [[nodiscard]] virtual RooflineDrawing drawing(const RooflineReport& report) const = 0;

  /// What differs between two profiled versions: numbers, build, source and machine code.
  virtual Result<VersionDiff> compare(const Contract& contract, const ComparedVersion& a,
                                      const ComparedVersion& b, CallContext& call) = 0;

  /// Times kernels of one contract against the first of them, interleaved, on one case, in new
  /// processes and on inputs that no race before had. The verdicts of all hold together (Holm). The
  /// race ends when the first fails.
  virtual Result<std::vector<RaceLine>> race(const Contract& contract,
                                             const std::vector<Entrant>& entrants,
                                             const RacePlan& race, std::string_view run_secret,
                                             CallContext& call) = 0;

  /// The source of a kernel that chooses between others by size; the first one serves what no case
  /// says. See size_dispatch.h for what it cannot do.
  virtual Result<Source> dispatcher(const Contract& contract, const std::vector<Entrant>& variants,
                                    const std::vector<DispatchChoice>& choices) = 0;

  /// Measured roofs, kept in `<state_dir>/ceilings/` by device (a GPU's UUID) and driver, and
  /// measured again when a profile saw another clock than they did; roofline.h finds them by name.
  /// Measuring them calibrates the noise of comparisons too.
  virtual Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                                CallContext& call) = 0;
};

}  // namespace ratchet
