#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "kernels/judge/device_trials.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/reference.h"
#include "kernels/process/candidate_process.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// The arenas that the contestants of one timing session rotate through, all of one case, and what
/// decides about what their timed calls left there.
///
/// Thread rule and errors: as Judge.
class TimedArenas {
 public:
  /// Most arenas that a process is given at once.
  static constexpr int kMost = 4;

  virtual ~TimedArenas() = default;

  /// Other contents at other addresses for whoever is given arenas from now on; the same for all.
  virtual void renew() = 0;
  /// Takes what was given before. A fault of the process is left in it.
  virtual Status give(CandidateProcess& process, const CallContext& call) = 0;
  /// What is wrong with one arena, drawn only now, after blocks of up to `calls` timed calls since
  /// `give`. Empty: nothing, or the process failed.
  virtual Result<std::optional<Reason>> judge(CandidateProcess& process, int calls,
                                              const CallContext& call) = 0;
};

/// Judge and reference of a contract, from which sessions get their arenas: in memory that a judge
/// on the GPU shares with each process where that can be, else through sealed memory files.
///
/// Thread rule and errors: as Judge.
class ArenaSource {
 public:
  /// `contestants`: the most that one session has. Starts processes, and waits for none that
  /// `arenas` can wait for.
  static Result<ArenaSource> open(const ReferenceParts& parts, const Contract& contract,
                                  std::size_t contestants, const CallContext& call);

  /// For a session on one case, when the last session is over. `secret`: what nobody but the server
  /// knows; all seeds follow from it. Borrows from the source.
  Result<std::unique_ptr<TimedArenas>> arenas(const Dims& dims, std::string_view secret,
                                              const CallContext& call);

 private:
  ArenaSource(const ReferenceParts& parts, Contract contract, std::size_t contestants)
      : parts_(parts), contract_(std::move(contract)), contestants_(contestants) {}
  Status open_judge(const CallContext& call);

  ReferenceParts parts_;
  Contract contract_;
  std::size_t contestants_;
  std::unique_ptr<DeviceTrials> trials_;  // launched; or null, and there is a judge
  bool shares_ = false;                   // trials_ are open
  std::unique_ptr<Judge> judge_;
};

/// How many arenas of so many bytes each of so many processes rotates through.
[[nodiscard]] int places_for(std::int64_t bytes, std::size_t contestants);

/// Arenas in memory that the judge of `trials`, which is borrowed, shares. It was launched with
/// room for as many processes as will be given arenas. Finds out what the reference writes.
[[nodiscard]] Result<std::unique_ptr<TimedArenas>> device_arenas(
    DeviceTrials& trials, const Contract& contract, const Dims& dims, std::string_view secret,
    std::size_t contestants, const CallContext& call);

}  // namespace ratchet
