#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/candidate_process.h"
#include "kernels/judge.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// The arenas that the contestants of one timing session rotate through, all of one case, and what
/// decides about what their timed calls left there.
///
/// Thread rule and errors: as Judge, which it borrows.
class TimedArenas {
 public:
  /// Most arenas that a process is given at once.
  static constexpr int kMost = 4;

  /// `secret`: what nobody but the server knows; all seeds follow from it. `contestants`: how many
  /// will be given arenas at once.
  static Result<TimedArenas> make(Judge& judge, const Contract& contract, const Dims& dims,
                                  std::string_view secret, std::size_t contestants,
                                  const CallContext& call);

  /// Other places and addresses for whoever is given arenas from now on; the same for all.
  void renew();
  /// Takes what was given before. A fault of the process is left in it.
  Status give(CandidateProcess& process, const CallContext& call);
  /// What is wrong with one arena, drawn only now, after blocks of up to `calls` timed calls since
  /// `give`. Empty: nothing, or the process failed.
  Result<std::optional<Reason>> judge(CandidateProcess& process, int calls,
                                      const CallContext& call);

 private:
  struct Given {
    std::vector<std::size_t> order;  // which trial lies in which place
    std::vector<std::string> seeds;  // by place
  };

  TimedArenas(Judge& judge, std::vector<Trial> trials);

  Judge* judge_;
  std::vector<Trial> trials_;
  std::mt19937_64 random_;  // orders and places; not secret
  std::vector<std::size_t> order_;
  std::int64_t shift_ = 0;
  std::map<const CandidateProcess*, Given> given_;
};

}  // namespace ratchet
