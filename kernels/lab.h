#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/lab_answers.h"
#include "kernels/lab_options.h"
#include "kernels/lab_requests.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/core/storage.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"
#include "server/facts/imported_profile.h"
#include "server/facts/lab_state.h"
#include "server/facts/problem_import.h"
#include "server/facts/roofline_report.h"
#include "server/facts/task.h"
#include "server/facts/version_diff.h"

namespace ratchet {

/// Builds, checks, times and profiles kernels in isolated worker processes.
///
/// Thread rule: all methods may be called from several threads; measuring ones queue per device
/// (one job per device, with an operating-system lock across servers). Nothing is retried silently.
/// Secrets go to workers by pipe, never by argument or environment. Errors are our own failures (no
/// compiler, no worker, canceled); what the kernel does wrong is a finding in the returned record.
class Lab {
 public:
  static Result<std::unique_ptr<Lab>> open(LabOptions options);
  virtual ~Lab() = default;

  /// Probes toolchains, the host, the given GPU or all GPUs, and the permission for counters (by
  /// profiling a real kernel), which `machine` leaves out. Errors: the given GPU does not exist.
  virtual Result<Environment> environment(std::optional<int> device, CallContext& call) = 0;
  virtual Result<Environment> machine(std::optional<int> device, CallContext& call) = 0;

  /// Begins in the background, once, what a first run waits for longest: torch and a GPU's judge.
  virtual void expect_run() {}

  /// A shipped problem by name, or one by the absolute path of its folder, for the given
  /// implementation or the best one that a machine can run: the one with this environment; null:
  /// this one.
  virtual Result<Problem> problem(const std::string& name,
                                  const std::optional<std::string>& implementation,
                                  const Environment* there) = 0;
  [[nodiscard]] virtual std::vector<std::string> problem_names() const = 0;

  /// Makes a folder of another suite's problem; its Python runs behind walls. No `most_bytes`: a
  /// share of this device's memory. Errors: `invalid_argument` with file and line; no folder then.
  virtual Result<ImportedProblem> import_problem(ProblemImport import, CallContext& call) = 0;

  /// Parses the signature, infers and freezes. Errors say which parameter or field to change.
  virtual Result<Contract> plan(const TaskRequest& task, const Source& kernel,
                                const Source& reference, const CallContext& call = {}) = 0;

  /// Builds, or finds the build in the cache. A compiler error is `build.ok == false`.
  virtual Result<Candidate> build(const Contract& contract, Source source, CallContext& call) = 0;

  /// What a new run needs before its task is tried, side by side: the environment, the contract's
  /// kernel, its reference (built, or its frameworks imported), and on a GPU the measured roofs.
  /// Returns early if the kernel does not build. Errors: those of `environment` and `build`.
  virtual Result<PreparedTask> prepare(const Contract& contract, CallContext& call) = 0;

  /// Builds and tries the reference. Returns weaknesses of the contract and of the task: control
  /// answers (zero, constant, identity, lower precision) that would pass, inputs that have no
  /// effect. Errors: the reference does not build, raises, or writes nothing.
  virtual Result<std::vector<Reason>> validate_task(const Contract& contract,
                                                    std::string_view run_secret,
                                                    CallContext& call) = 0;

  /// Why this candidate or the reference fails at odd, prime or tiny sizes; empty if neither does.
  virtual Result<std::optional<Reason>> refused_size(Contract contract, const Candidate& candidate,
                                                     std::string_view run_secret,
                                                     CallContext& call) = 0;
  /// Why the reference has no answer at a size that checks of this run will add to the given ones;
  /// empty if it has one at each.
  virtual Result<std::optional<Reason>> unanswered_size(const Contract& contract,
                                                        std::string_view run_secret,
                                                        CallContext& call) = 0;
  /// Which sizes checks add to the given ones, with a warning where they are few. With `v0`:
  /// `any_size` if it and the reference take any; without, as the contract has it. No check meets a
  /// size at which the reference failed here.
  Status decide_sizes(Contract& contract, const Candidate* v0, std::string_view run_secret,
                      std::vector<Reason>& warnings, CallContext& call);
  virtual Result<TimedReport> check(const Contract& contract, const Candidate& candidate,
                                    const Ahead& ahead, std::string_view run_secret,
                                    CallContext& call) = 0;
  Result<TimedReport> check(const Contract& contract, const Candidate& candidate,
                            std::string_view run_secret, CallContext& call) {
    return check(contract, candidate, {}, run_secret, call);
  }
  virtual Result<SearchedValues> search_values(const Contract& contract,
                                               const ValueSearchRequest& request,
                                               std::string_view run_secret, CallContext& call) = 0;

  /// Times (paired against parent and v0), then counts in a separate process, then diagnoses.
  virtual Result<TimedProfile> profile(const Contract& contract, const ProfileRequest& request,
                                       std::string_view run_secret, CallContext& call) = 0;

  /// Imports an external Nsight Compute report, or its CSV; never counted as our measurement. Says
  /// whether it belongs to this binary: a report that we wrote ourselves, or one that contains its
  /// code. Errors: `not_found` and `too_large` for the file, `invalid_argument` for one that is
  /// damaged or not from ncu, `unavailable` for a report file without ncu.
  virtual Result<ImportedProfile> import_profile(const Contract& contract,
                                                 const ImportRequest& request,
                                                 CallContext& call) = 0;
  virtual Result<BenchmarkReport> benchmark(const Contract& contract,
                                            const BenchmarkRequest& request,
                                            std::string_view run_secret, CallContext& call) = 0;

  /// One call per tool, on inputs that no check or timing uses, with every buffer in a separate
  /// allocation. Advisory: gives no verdict and no time. Errors: `unavailable` without
  /// compute-sanitizer, and for kernels that it cannot watch.
  virtual Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                           CallContext& call) = 0;

  /// Builds a compiled kernel outside of any run, without a GPU if the request names its target. A
  /// source that does not build is in the record. Errors: `invalid_argument` for Python kernels and
  /// fields that do not fit, `unavailable` without a compiler.
  virtual Result<CompiledSource> compile(const CompileRequest& request, CallContext& call) = 0;

  /// Machine code of the measured binary itself: SASS, or host code. Errors: `unavailable` without
  /// a disassembler, `not_found` for a function it does not contain.
  virtual Result<Disassembly> disassemble(const Contract& contract, const Candidate& candidate,
                                          const DisassemblyRequest& request, CallContext& call) = 0;

  /// Which methods show in a candidate's code, compared with its parent's (null: none). No ids: the
  /// whole registry. Without a disassembler, and on the host, every verdict is `unknown`, with a
  /// reason. Errors: `not_found` for an id that is not in the registry.
  virtual Result<SassCheck> check_sass(const Contract& contract, const Candidate& candidate,
                                       const Candidate* parent, const std::vector<std::string>& ids,
                                       CallContext& call) = 0;

  /// A profiled kernel's position under the roofs, level by level. Measures them if need be.
  virtual Result<RooflineReport> roofline(const Contract& contract, const Profile& profile,
                                          CallContext& call) = 0;
  [[nodiscard]] virtual RooflineDrawing drawing(const RooflineReport& report) const = 0;

  /// The differences between two profiled versions: numbers, build, source and machine code.
  virtual Result<VersionDiff> compare(const Contract& contract, const ComparedVersion& a,
                                      const ComparedVersion& b, CallContext& call) = 0;

  /// Times kernels of one contract against the first of them, interleaved, on one case, in new
  /// processes and on inputs not used before. The verdicts of all hold together (Holm). The race
  /// ends if the first kernel fails.
  virtual Result<std::vector<RaceLine>> race(const Contract& contract,
                                             const std::vector<Entrant>& entrants,
                                             const RacePlan& race, std::string_view run_secret,
                                             CallContext& call) = 0;

  /// The source of a kernel that chooses between others by size; the first one serves sizes of no
  /// case. See size_dispatch.h for limitations.
  virtual Result<Source> dispatcher(const Contract& contract, const std::vector<Entrant>& variants,
                                    const std::vector<DispatchChoice>& choices) = 0;

  /// Measured roofs, stored in `<state_dir>/ceilings/` by device (a GPU's UUID) and driver, and
  /// measured again when a profile saw a different clock; roofline.h looks them up by name.
  /// Measuring them also calibrates the noise of comparisons.
  virtual Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                                CallContext& call) = 0;

  /// Does all pieces: on this lab, or side by side on the labs that were shown to equal the
  /// contract's. Errors: the first piece's that failed, after all that were begun have ended.
  virtual Status spread(const Contract& contract, PieceWork work, const std::vector<Piece>& pieces,
                        CallContext& call);

  /// The noise floor of comparisons of kernels that take this long, a fraction; calibrated if it is
  /// not yet. Empty: it cannot be calibrated.
  virtual Result<std::optional<double>> noise(DeviceKind kind, int device, double time_ns,
                                              CallContext& call) = 0;

  /// The lab that takes over a run whose lab was lost twice without an answer in between: the first
  /// of its group that equals it. Empty: its lab was not lost so. Errors: `unavailable`, with what
  /// differs on each.
  virtual Result<std::optional<std::string>> successor(const MeasuredOn& run, CallContext& call);
  /// The lab of this name, for what belongs to no contract; without a name this one. Errors:
  /// `not_found`.
  virtual Result<Lab*> named(const std::optional<std::string>& name);
  /// Other labs that a contract may name.
  [[nodiscard]] virtual std::vector<LabState> labs() const { return {}; }

  /// What it keeps in the state folder. Builds can be made again from the sources in the ledger;
  /// those that `needed` names stay, because another compiler may make other binaries by then.
  virtual std::vector<Store> stores(std::function<std::set<std::string>()> needed) = 0;
  /// Removes the private folders of workers and compilers whose servers were killed.
  virtual FileCount remove_abandoned(bool dry_run) = 0;
};

}  // namespace ratchet
