#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/build/builder.h"
#include "kernels/disassembly/disassembler.h"
#include "kernels/judge/reference.h"
#include "kernels/lab.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/device_queue.h"
#include "kernels/process/python_cache.h"
#include "kernels/process/python_fork_server.h"
#include "kernels/process/python_inputs.h"
#include "kernels/process/worker_process.h"
#include "kernels/timing/timed_arenas.h"
#include "kernels/timing/timing_session.h"

namespace ratchet {

class CheckedProcesses;
struct ProcessesAside;

/// What a device reports about itself, and what isolates candidates on it.
struct Greeting {
  DeviceInfo device;
  std::string sandbox;
  int devices = 1;              ///< number of devices of this kind
  std::optional<OneGpu> gpu{};  ///< empty of a part of a GPU, and where the driver lists none
};

inline constexpr int kMostArenas = TimedArenas::kMost + 1;  ///< in any candidate's process

/// How to start a candidate's process, and the code it loads.
struct StartPlan {
  WorkerSpec spec;
  std::chrono::milliseconds deadline;
  CandidateProcess::Code code;
};

/// Named versions in one comparison, all alive at once; the first is the candidate.
using Versions = std::vector<std::pair<std::string, const Candidate*>>;

/// A calibration of noise that goes on: comparisons of a short kernel and of a long one.
struct Calibration {
  std::vector<NoisePoint> of_short, of_long;
  std::optional<double> clock_mhz;  ///< the highest seen
};

/// How processes start.
struct StartOptions {
  SpareWorkers* spares = nullptr;         ///< where they may come from; null: they are new
  CheckedProcesses* checked = nullptr;    ///< those in it of the same binaries go on
  std::optional<int> processors_of_last;  ///< the last runs on so many at most
};

/// The state of a laboratory on this machine, and the steps that several of its jobs share. Each
/// step is defined in the lab_*.cpp named with it. Unless stated otherwise, the caller holds the
/// device (`queue`). Thread rule: all methods may be called from several threads.
struct LabParts {
  LabParts(LabOptions given, Builder with);

  // lab.cpp
  /// Asks the device for its greeting, so that its processes reach no other GPU.
  [[nodiscard]] WorkerPlace place(DeviceKind kind, int device);
  [[nodiscard]] ReferenceParts reference_parts(const Contract& contract);
  Result<Candidate> build(const Contract& contract, Source source, CallContext& call);
  /// A candidate's library in the build cache; built again if the cache no longer has it. Error
  /// `drift`: its bytes are no longer those recorded.
  Result<std::filesystem::path> library_path(const Contract& contract, const Candidate& candidate,
                                             const CallContext& call) const;
  /// Its bytes.
  Result<std::string> library_of(const Contract& contract, const Candidate& candidate,
                                 const CallContext& call) const;
  Result<StartPlan> start_plan(const Contract& contract, const Candidate& candidate,
                               CandidateProcess::Use use, int arenas, const CallContext& call);
  /// A candidate in its own worker, with memory for `arenas` arenas of the contract.
  Result<CandidateProcess> start(const Contract& contract, const Candidate& candidate,
                                 CandidateProcess::Use use, int arenas, const CallContext& call);
  Result<std::vector<CandidateProcess>> start_all(const Contract& contract,
                                                  const Versions& versions, const CallContext& call,
                                                  const StartOptions& options = {});
  /// Starts processes for the kernels of the next checks, until there are so many; none for those
  /// in Python, which begin with what their compilers left.
  void start_candidates(const Contract& contract, std::size_t count, SpareWorkers& spares);
  /// Starts processes for jobs of this contract that follow, `most` of races. False, and none, for
  /// kernels in Python and where they would take a good part of the device's memory.
  bool start_ahead(const Contract& contract, const Ahead& ahead, std::size_t most,
                   ProcessesAside& aside);

  // lab_devices.cpp
  /// Cached per device; needs no turn on it.
  Result<Greeting> greeting(DeviceKind kind, int device, const CallContext& call);
  Result<std::vector<Ceiling>> measured_ceilings(int device, DeviceKind kind, bool refresh,
                                                 const CallContext& call);

  // lab_noise.cpp
  /// The stored noise of comparisons on this device; calibrated if there is none, or `refresh`.
  /// Empty if it cannot be calibrated.
  std::optional<NoiseProfile> noise_of(const DeviceInfo& device, bool refresh,
                                       const CallContext& call);
  /// Whether `noise_of` has nothing to calibrate.
  [[nodiscard]] bool noise_is_known(const DeviceInfo& device) const;
  /// One session more of a device's calibration; its profile, stored, when that was the last.
  Result<std::optional<NoiseProfile>> calibrate_further(const DeviceInfo& device,
                                                        const CallContext& call);
  /// Calibrates a GPU whose noise is not known, while nobody waits for the device: a session at a
  /// time, each with a turn of its own. What it has by then, `noise_of` uses. Needs no turn.
  void calibrate_when_idle(const DeviceInfo& device);
  /// A plan with the contract's noise. `compares`: and with the device's; a version that is timed
  /// alone needs none, and calibrating takes seconds.
  SessionPlan session_plan(const Contract& contract, const DeviceInfo& device, bool compares,
                           const CallContext& call);

  // lab_race.cpp
  /// One session on one case, with new inputs and processes that are new or have been checked. None
  /// aside begins or ends while kernels are timed; the session's own are then among those that end.
  Result<SessionRecord> session_of(const Contract& contract, const Dims& dims,
                                   const Versions& versions, const SessionPlan& plan,
                                   ProcessesAside& aside, std::string_view run_secret,
                                   const CallContext& call);

  // lab_code.cpp; these need no turn on the device
  /// A disassembler's output for a candidate's binary.
  Result<Listing> listing_of(const Contract& contract, const Candidate& candidate, CodeView view,
                             const CallContext& call) const;
  /// The GPU code in a candidate's binary, one cubin each.
  Result<std::vector<std::string>> gpu_codes_of(const Contract& contract,
                                                const Candidate& candidate,
                                                const CallContext& call) const;

  // lab_ncu.cpp
  [[nodiscard]] Status check_engine(const Contract& contract, CounterEngine engine) const;
  Status count_with_ncu(const Contract& contract, const ProfileRequest& request, Profile& profile,
                        const CallContext& call);

  // lab_python.cpp
  [[nodiscard]] PythonForkServer& python_of(const Contract& contract);
  [[nodiscard]] PythonCache cache_of(const std::string& build_key) const;
  /// Takes its own turn on the device.
  Result<Candidate> build_python(const Contract& contract, Source source, CallContext& call);
  Result<StartPlan> python_plan(const Contract& contract, const Candidate& candidate,
                                CandidateProcess::Use use, std::int64_t arena_bytes);
  /// Runs a kernel's just-in-time compilers for the sizes of a check that they have not seen, in
  /// this order; with none, for all that a build compiles. Empty on success, else its fault.
  Result<std::optional<Fault>> compile_for(const Contract& contract, const Candidate& candidate,
                                           const std::vector<Case>& cases, const CallContext& call);
  /// Inputs of the right shape that no check or timing ever uses, by processes that start once.
  class ThrowawayInputs {
   public:
    Result<MemoryFile> arena(const CallPlan& plan, const Dims& dims, const char* distribution,
                             const CallContext& call);

   private:
    friend LabParts;
    using Inputs = std::optional<PythonInputs>;
    ThrowawayInputs(const Contract& contract, WorkerProcess worker, Inputs inputs,
                    std::chrono::milliseconds deadline);
    Status fill(const wire::Generate& content, const Dims& dims, const MemoryFile& arena,
                const CallContext& call);

    std::vector<std::string> given_;  ///< inputs that a user's function makes
    WorkerProcess worker_;
    Inputs inputs_;
    /// Once, if those made without a GPU do not do.
    std::function<Result<Inputs>(const CallContext& call)> on_gpu_;
    std::chrono::milliseconds deadline_;
  };
  Result<ThrowawayInputs> throwaway_inputs(const Contract& contract, const CallContext& call);
  /// Normal ones of one size; the processes have ended.
  Result<MemoryFile> throwaway_arena(const Contract& contract, const CallPlan& plan,
                                     const Dims& dims, const CallContext& call);
  /// A framework's function of the reference, as a contestant; `unavailable` with the reason.
  Result<CandidateProcess> start_baseline(const Contract& contract, const std::string& name,
                                          int arenas, const CallContext& call);

  LabOptions options;
  Builder builder;
  PythonForkServer host_python;
  PythonForkServer cuda_python;
  DeviceQueue queue;  // what is left in it may be of a fork server
  std::mutex guard;   // of the caches below
  std::map<std::pair<DeviceKind, int>, Greeting> greetings;
  std::optional<CounterState> counters;
  std::map<std::pair<DeviceKind, int>, Calibration> calibrations;  ///< those that go on
  bool calibrating = false;
  /// Clocks of kernels for which the roofs were measured again; used with a turn on the device.
  std::map<std::pair<DeviceKind, int>, std::vector<double>> clocks_of_roofs;
  std::jthread calibrator, expecting;  // last: they use the others
};

}  // namespace ratchet
