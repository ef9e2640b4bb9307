#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/candidate_process.h"
#include "kernels/reference.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// The arenas that the contestants of one timing session work on, all of one case, and what decides
/// about what their timed calls left there.
///
/// Thread rule and errors: as Judge.
class TimedArenas {
 public:
  virtual ~TimedArenas() = default;

  /// Other contents at other addresses for whoever is given arenas from now on; the same for all.
  virtual void renew() = 0;
  /// Takes what was given before. A fault of the process is left in it.
  virtual Status give(CandidateProcess& process, const CallContext& call) = 0;
  /// What is wrong with one arena, drawn only now, after blocks of up to `calls` timed calls since
  /// `give`. Empty: nothing, or the process failed.
  virtual Result<std::optional<Reason>> judge(CandidateProcess& process, int calls,
                                              const CallContext& call) = 0;
  /// True when contestants have one arena in turns: it is to be given before each block, and judged
  /// before the next one.
  [[nodiscard]] virtual bool in_turns() const = 0;

  /// Most arenas that a process is given at once.
  static constexpr int kMost = 4;
};

/// Judge and reference of a contract, from which sessions get their arenas: in memory that a judge
/// on the GPU shares where that is possible, else through sealed memory files.
class ArenaSource {
 public:
  /// Starts the processes, and waits for none that `arenas` can wait for.
  static Result<std::unique_ptr<ArenaSource>> open(const ReferenceParts& parts,
                                                   const Contract& contract,
                                                   const CallContext& call);
  virtual ~ArenaSource() = default;

  /// For one case. `secret`: what nobody but the server knows; all seeds follow from it.
  /// `contestants`: how many will be given arenas at once.
  virtual Result<std::unique_ptr<TimedArenas>> arenas(const Dims& dims, std::string_view secret,
                                                      std::size_t contestants,
                                                      const CallContext& call) = 0;
};

}  // namespace ratchet
