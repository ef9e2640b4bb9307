#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/process/candidate_process.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// One input with its answer. Both memory files are sealed.
struct Trial {
  Dims dims;
  std::string distribution;
  CallPlan plan;
  MemoryFile sent;
  MemoryFile expected;
  /// The reference writes every output element, so a kernel must too. Set by `make_trial`.
  bool writes_all = true;
  /// Magnitudes of the answer, by output, and how many of its values are NaN or infinite. Set by
  /// `make_trial` and `changed` where the contract has JudgeRules.
  std::vector<double> rms{};
  std::int64_t not_finite = 0;
  int number = 0;  ///< of its judge's trials
};

/// Whether two answers to one input agree in every output bit. Both are sealed.
[[nodiscard]] Result<bool> same_outputs(const wire::ArenaLayout& layout, const MemoryFile& a,
                                        const MemoryFile& b);

}  // namespace ratchet
