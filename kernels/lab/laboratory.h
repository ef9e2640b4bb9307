#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/lab.h"
#include "kernels/lab/examined_sizes.h"
#include "kernels/lab/lab_parts.h"

namespace ratchet {

class Examiner;
struct ProcessesAside;
struct Question;

/// Whether a function makes the contract's inputs on the processor sooner than a process gets to a
/// GPU. Of use where their contents do not matter.
[[nodiscard]] bool has_small_inputs(const Contract& contract);

/// The Lab of this machine. See lab.h for the contract of each method; lab_<job>.cpp defines it.
///
/// Methods that need a device take their turn in the queue first and hold it to the end.
class Laboratory final : public Lab, private LabParts {
 public:
  using LabParts::LabParts;

  Result<Environment> environment(std::optional<int> device, CallContext& call) override;
  Result<Environment> machine(std::optional<int> device, CallContext& call) override;
  void expect_run() override;
  Result<Problem> problem(const std::string& name, const std::optional<std::string>& implementation,
                          const Environment* there) override;
  [[nodiscard]] std::vector<std::string> problem_names() const override;
  Result<ImportedProblem> import_problem(ProblemImport import, CallContext& call) override;
  Result<Contract> plan(const TaskRequest& task, const Source& kernel, const Source& reference,
                        const CallContext& call) override;
  Result<Candidate> build(const Contract& contract, Source source, CallContext& call) override {
    return LabParts::build(contract, std::move(source), call);
  }
  Result<PreparedTask> prepare(const Contract& contract, CallContext& call) override;
  Result<std::vector<Reason>> validate_task(const Contract& contract, std::string_view run_secret,
                                            CallContext& call) override;
  using Lab::check;
  Result<TimedReport> check(const Contract& contract, const Candidate& candidate,
                            const Ahead& ahead, std::string_view run_secret,
                            CallContext& call) override;
  Result<std::optional<Reason>> refused_size(Contract contract, const Candidate& candidate,
                                             std::string_view run_secret,
                                             CallContext& call) override;
  Result<std::optional<Reason>> unanswered_size(const Contract& contract,
                                                std::string_view run_secret,
                                                CallContext& call) override;
  Result<SearchedValues> search_values(const Contract& contract, const ValueSearchRequest& request,
                                       std::string_view run_secret, CallContext& call) override;
  Result<TimedProfile> profile(const Contract& contract, const ProfileRequest& request,
                               std::string_view run_secret, CallContext& call) override;
  Result<ImportedProfile> import_profile(const Contract& contract, const ImportRequest& request,
                                         CallContext& call) override;
  Result<BenchmarkReport> benchmark(const Contract& contract, const BenchmarkRequest& request,
                                    std::string_view run_secret, CallContext& call) override;
  Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                   CallContext& call) override;
  Result<CompiledSource> compile(const CompileRequest& request, CallContext& call) override;
  Result<Disassembly> disassemble(const Contract& contract, const Candidate& candidate,
                                  const DisassemblyRequest& request, CallContext& call) override;
  Result<SassCheck> check_sass(const Contract& contract, const Candidate& candidate,
                               const Candidate* parent, const std::vector<std::string>& ids,
                               CallContext& call) override;
  Result<RooflineReport> roofline(const Contract& contract, const Profile& profile,
                                  CallContext& call) override;
  [[nodiscard]] RooflineDrawing drawing(const RooflineReport& report) const override;
  Result<VersionDiff> compare(const Contract& contract, const ComparedVersion& a,
                              const ComparedVersion& b, CallContext& call) override;
  Result<std::vector<RaceLine>> race(const Contract& contract, const std::vector<Entrant>& entrants,
                                     const RacePlan& race, std::string_view run_secret,
                                     CallContext& call) override;
  Result<Source> dispatcher(const Contract& contract, const std::vector<Entrant>& variants,
                            const std::vector<DispatchChoice>& choices) override;
  Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                        CallContext& call) override;
  Result<std::optional<double>> noise(DeviceKind kind, int device, double time_ns,
                                      CallContext& call) override;
  std::vector<Store> stores(std::function<std::set<std::string>()> needed) override;
  FileCount remove_abandoned(bool dry_run) override;

 private:
  Result<Problem> imported_problem(const std::string& folder,
                                   const std::optional<std::string>& implementation,
                                   const Environment* there);
  /// A contract whose buffers have the extents that the reference reads and writes, or, if they
  /// cannot be told, those of the compatible rule. Errors: `invalid_argument` if the reference does
  /// not work with those either; the hint has `tensors` for this signature.
  Result<Contract> plan_extents(const TaskRequest& task, const Source& kernel,
                                const Source& reference, const DeviceInfo& device);
  /// What a source without a run is built for: any target that is asked for, else a device here.
  Result<std::string> target_of(const CompileRequest& request, Implementation implementation,
                                CallContext& call);
  /// Takes a turn on the device. Checks in a row of one contract share judge and reference, and
  /// start processes for what is ahead.
  Result<TimedReport> examine(const Contract& contract, const Candidate& candidate,
                              const ExaminedSizes& sizes, const Ahead& ahead,
                              std::string_view run_secret, CallContext& call);
  /// By this examiner; if there is none, by a new one, which is then there. `watch` takes the time.
  Result<CorrectnessReport> examine_by(std::unique_ptr<Examiner>& examiner,
                                       const Contract& contract, const Candidate& candidate,
                                       const ExaminedSizes& sizes, const Ahead& ahead,
                                       ProcessesAside& aside, std::string_view run_secret,
                                       Stopwatch& watch, CallContext& call);
  /// Whether a kernel that answers this with wrong outputs is right where they start at zero; then
  /// the reason.
  Result<std::optional<Reason>> adds_onto(const Contract& contract, const Candidate& candidate,
                                          const Question& wrong,
                                          const std::vector<std::string>& outputs,
                                          const CallContext& call);
};

}  // namespace ratchet
