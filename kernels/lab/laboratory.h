#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/build/builder.h"
#include "kernels/disassembly/disassembler.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/reference.h"
#include "kernels/lab.h"
#include "kernels/lab/lab_parts.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/device_queue.h"
#include "kernels/process/python_cache.h"
#include "kernels/process/python_fork_server.h"
#include "kernels/timing/timed_arenas.h"
#include "kernels/timing/timing_session.h"

namespace ratchet {

/// The Lab that measures for real. Its methods stand in lab*.cpp, one file per concern; see lab.h
/// for the contract of each.
///
/// Every method that needs a device takes its turn in the queue first and holds it to the end.
class Laboratory final : public Lab {
 public:
  Laboratory(LabOptions options, Builder builder)
      : options_(std::move(options)),
        builder_(std::move(builder)),
        queue_(options_.state_dir / "devices"),
        host_python_(python_options(DeviceKind::host)),
        cuda_python_(python_options(DeviceKind::cuda)) {}

  Result<Environment> environment(std::optional<int> device, CallContext& call) override;
  Result<Problem> problem(const std::string& name,
                          const std::optional<std::string>& implementation) override;
  [[nodiscard]] std::vector<std::string> problem_names() const override;
  Result<Contract> plan(const TaskRequest& task, const Source& kernel,
                        const Source& reference) override;
  Result<Candidate> build(const Contract& contract, Source source, CallContext& call) override;
  Result<std::vector<Reason>> validate_task(const Contract& contract, std::string_view run_secret,
                                            CallContext& call) override;
  Result<CorrectnessReport> check(const Contract& contract, const Candidate& candidate,
                                  std::string_view run_secret, CallContext& call) override;
  Result<Profile> profile(const Contract& contract, const ProfileRequest& request,
                          std::string_view run_secret, CallContext& call) override;
  Result<ImportedProfile> import_profile(const Contract& contract, const ImportRequest& request,
                                         CallContext& call) override;
  Result<BenchmarkReport> benchmark(const Contract& contract, const BenchmarkRequest& request,
                                    std::string_view run_secret, CallContext& call) override;
  Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                   CallContext& call) override;
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

 private:
  [[nodiscard]] WorkerPlace place(DeviceKind kind, int device) const;
  [[nodiscard]] ReferenceParts parts(const Contract& contract);
  [[nodiscard]] PythonForkServer::Options python_options(DeviceKind kind) const;
  [[nodiscard]] PythonForkServer& python_of(const Contract& contract);
  Result<Greeting> greeting(DeviceKind kind, int device, const CallContext& call);
  CounterState probe_counters(const DeviceInfo& device, CallContext& call);

  /// What a disassembler prints of a candidate's binary. See lab_code.cpp.
  Result<Listing> listing_of(const Contract& contract, const Candidate& candidate, CodeView view,
                             const CallContext& call);
  /// The bytes of a candidate's library, if they are still those that were recorded.
  [[nodiscard]] Result<std::string> library_of(const Candidate& candidate) const;
  Result<StartPlan> start_plan(const Contract& contract, const Candidate& candidate,
                               CandidateProcess::Use use, int arenas);
  /// A candidate in its own worker, with memory for `arenas` arenas of the contract.
  Result<CandidateProcess> start(const Contract& contract, const Candidate& candidate,
                                 CandidateProcess::Use use, int arenas, const CallContext& call);

  // Python kernels; see lab_python.cpp.
  Result<Candidate> build_python(const Contract& contract, Source source, CallContext& call);
  [[nodiscard]] PythonCache cache_of(const std::string& build_key) const;
  /// Has the kernel's own compilers see the sizes that they have not seen. Empty when all went
  /// well, else what the kernel did wrong. The caller holds the device.
  Result<std::optional<Fault>> compile_pass(const Contract& contract, const Candidate& candidate,
                                            const std::vector<Dims>& dims, const CallContext& call);
  Result<MemoryFile> throwaway_arena(const Contract& contract, const CallPlan& plan,
                                     const Dims& dims, const CallContext& call);
  /// The same for all sizes of a check; of kernels that compile at their first call.
  Result<std::optional<Fault>> compile_for(const Contract& contract, const Candidate& candidate,
                                           const std::vector<Case>& cases, const CallContext& call);
  Result<StartPlan> python_plan(const Contract& contract, const Candidate& candidate,
                                CandidateProcess::Use use, std::int64_t arena_bytes);
  /// A framework's function of the reference, as a contestant. Error `unavailable`: not to be had
  /// here, with the reason.
  Result<CandidateProcess> start_baseline(const Contract& contract, const std::string& name,
                                          int arenas, const CallContext& call);

  /// Versions in one comparison, all alive at once; the first is the candidate.
  using Versions = std::vector<std::pair<std::string, const Candidate*>>;
  Result<std::vector<CandidateProcess>> start_all(const Contract& contract,
                                                  const Versions& versions,
                                                  const CallContext& call);

  Status sanitize_with(SanitizerTool tool, const Contract& contract, const SanitizeRequest& request,
                       const CallPlan& plan, const MemoryFile& arena, SanitizerReport& report,
                       const CallContext& call);

  /// The same without queueing: the caller holds the device.
  Result<std::vector<Ceiling>> measured_ceilings(int device, DeviceKind kind, bool refresh,
                                                 const CallContext& call);

  /// What `state_dir` knows of the noise of comparisons on this device; calibrated when that is
  /// nothing, or `refresh`. Empty when it cannot be. The caller holds the device.
  std::optional<NoiseProfile> noise_of(const DeviceInfo& device, bool refresh,
                                       const CallContext& call);
  Result<NoiseProfile> calibrated_noise(const DeviceInfo& device, const CallContext& call);
  /// One session on new inputs, in new processes, of one case.
  Result<SessionRecord> session_of(const Contract& contract, const Dims& dims,
                                   const Versions& versions, const SessionPlan& plan,
                                   std::string_view run_secret, const CallContext& call);

  /// A plan with the contract's and the device's noise in it.
  SessionPlan session_plan(const Contract& contract, const DeviceInfo& device,
                           const CallContext& call);

  /// An idle process for counters, what to load into it and what to call it on.
  struct Counting {
    CandidateProcess& process;
    const CandidateProcess::Code& code;
    TimedArenas& arenas;
  };
  Status count(const Contract& contract, const ProfileRequest& request, const Counting& counting,
               Profile& profile, const CallContext& call);
  /// Samples put to source lines by the disassembled code.
  Hotspots hotspots_of(const Contract& contract, const Candidate& candidate,
                       const wire::PcSamples& samples, const CallContext& call);
  // Counters by Nsight Compute; see lab_ncu.cpp.
  [[nodiscard]] Status check_engine(const Contract& contract, CounterEngine engine) const;
  Result<WorkerSpec> ncu_spec(const Contract& contract, const Candidate& candidate,
                              std::int64_t arena_bytes);
  Status count_with_ncu(const Contract& contract, const ProfileRequest& request, Profile& profile,
                        const CallContext& call);
  Status take_report(const std::filesystem::path& folder, const std::string& log,
                     const std::vector<std::string>& names, Profile& profile,
                     const CallContext& call);

  /// Whether a report (its bytes; empty for a table) is of the version's binary, and why.
  std::pair<Binding, std::string> binding_of(const Contract& contract, const ImportRequest& request,
                                             const std::string& digest, const std::string& report,
                                             const CallContext& call);
  /// The GPU code in a candidate's binary, one cubin each.
  Result<std::vector<std::string>> gpu_codes_of(const Contract& contract,
                                                const Candidate& candidate,
                                                const CallContext& call);
  Status judge_physics(const Contract& contract, const DeviceInfo& device,
                       const ProfileRequest& request, std::string_view run_secret, Profile& profile,
                       const CallContext& call);
  Status measure_again(const Contract& contract, const ProfileRequest& request,
                       std::string_view run_secret, Profile& profile, const CallContext& call);
  Status diagnose_profile(const Contract& contract, const ProfileRequest& request,
                          const DeviceInfo& device, Profile& profile, const CallContext& call);
  /// A shipped problem's own call of the vendor's library. Error `unavailable`: not to be had here.
  Result<Candidate> vendor_of(const Contract& contract, CallContext& call);
  Result<CandidateProcess> start_vendor(const Contract& contract, int arenas, CallContext& call);
  /// Those that are missing or fail to start become rows; only a cancelled call is an error.
  Status add_baselines(const Contract& contract, const BenchmarkRequest& request, const Dims& dims,
                       BenchmarkField& field, CallContext& call);
  Status benchmark_case(const Contract& contract, const BenchmarkRequest& request, const Case& one,
                        std::string_view run_secret, ArenaSource& source, BenchmarkReport& report,
                        CallContext& call);

  LabOptions options_;
  Builder builder_;
  DeviceQueue queue_;
  PythonForkServer host_python_;
  PythonForkServer cuda_python_;
  std::mutex guard_;  // of the caches below
  std::map<std::pair<DeviceKind, int>, Greeting> greetings_;
  std::optional<CounterState> counters_;
};

}  // namespace ratchet
