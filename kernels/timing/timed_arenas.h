#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "kernels/judge/device_trials.h"
#include "kernels/judge/idle_judge.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/reference.h"
#include "kernels/process/candidate_process.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// The arenas that the contestants of one timing session rotate through, all of one case, and the
/// judgment of what the timed calls left in them.
///
/// Thread rule and errors: as Judge.
class TimedArenas {
 public:
  /// Most arenas a process has at once; of those in memory that a judge shares, which lie in
  /// different pieces of memory and are filled on the device.
  static constexpr int kMost = 4;
  static constexpr int kMostShared = 8;

  virtual ~TimedArenas() = default;

  /// Takes back what a process was given, so that `renew` can deal its memory anew.
  virtual Status take_back(CandidateProcess& process, const CallContext& call) = 0;
  /// New contents at new addresses for all arenas given from now on; the same for every process. In
  /// memory that a judge shares, they also lie in other memory, dealt by chance: where it lies
  /// makes a process faster or slower. Call `take_back` for every process that still has arenas
  /// first.
  virtual Status renew(const CallContext& call) = 0;
  /// Replaces the arenas given before. A fault of the process stays recorded in the process.
  virtual Status give(CandidateProcess& process, const CallContext& call) = 0;
  /// How many arenas a process was given; its calls use them in turn, from the first on.
  [[nodiscard]] virtual int count(const CandidateProcess& process) const = 0;
  /// What is wrong with what the last call in arena `index` left there. Empty if nothing is wrong
  /// or the process failed.
  virtual Result<std::optional<Reason>> judge(CandidateProcess& process, int index,
                                              const CallContext& call) = 0;
};

/// The content of a session's arenas.
struct ArenaPlan {
  Dims dims;
  std::string values = "normal";  ///< one of the check's distributions
  int first_room = 0;             ///< see `device_arenas`
  int most_places = TimedArenas::kMostShared;
};

/// Judge and reference of a contract, which supply sessions with arenas: in memory that a judge on
/// the GPU shares with each process if possible, else through sealed memory files.
///
/// Thread rule and errors: as Judge.
class ArenaSource {
 public:
  /// `contestants`: the most in one session. Starts processes; waiting for them is left to `arenas`
  /// where possible. `judge`: of the same terms and without a candidate, to go on with; where it
  /// cannot, new processes take its place.
  static Result<ArenaSource> open(const ReferenceParts& parts, const Contract& contract,
                                  std::size_t contestants, const CallContext& call,
                                  IdleJudge judge = {});

  /// Arenas for a session, once the previous session is over. `secret` is known only to the server;
  /// all seeds derive from it. Borrows from the source.
  Result<std::unique_ptr<TimedArenas>> arenas(const ArenaPlan& plan, std::string_view secret,
                                              const CallContext& call);

 private:
  ArenaSource(const ReferenceParts& parts, Contract contract, std::size_t contestants)
      : parts_(parts), contract_(std::move(contract)), contestants_(contestants) {}
  Status launch_trials(const CallContext& call);
  Status open_trials(const CallContext& call);
  Status open_judge(const CallContext& call);
  Result<std::unique_ptr<TimedArenas>> by_files(const ArenaPlan& plan, std::string_view secret,
                                                const CallContext& call);

  ReferenceParts parts_;
  Contract contract_;
  std::size_t contestants_;
  DeviceTrials::Room room_;
  bool used_ = false;                      // judge and reference have served others
  std::unique_ptr<DeviceTrials> trials_;   // launched; null if there is a judge
  bool shares_ = false;                    // trials_ are open
  std::unique_ptr<DeviceTrials> retired_;  // whose inputs cannot be made again: judge_ keeps them
  std::unique_ptr<Judge> judge_;
};

/// Arenas of two kinds in one session: `process` gets those of `its`, all others those of `theirs`.
/// Borrows both. On a GPU they are made with room that does not overlap (`first_room`).
[[nodiscard]] std::unique_ptr<TimedArenas> split_arenas(const CandidateProcess& process,
                                                        TimedArenas& its, TimedArenas& theirs);

/// How many arenas of this size each process rotates through, `most` at most.
[[nodiscard]] int places_for(std::int64_t bytes, std::size_t contestants, int most);

/// Arenas in memory shared by the judge of `trials`, which is borrowed and was launched with room
/// for all processes of the session. Determines what the reference writes. The first process gets
/// the memory of candidate `first_room` of the plan, and so on.
[[nodiscard]] Result<std::unique_ptr<TimedArenas>> device_arenas(
    DeviceTrials& trials, const Contract& contract, const ArenaPlan& plan, std::string_view secret,
    std::size_t contestants, const CallContext& call);

}  // namespace ratchet
