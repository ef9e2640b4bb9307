#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// The walls around a program that reads foreign input, such as a compiler: ratchet-confine starts
/// it.
struct Confinement {
  std::filesystem::path program;           ///< ratchet-confine; empty: no walls
  std::string role = "build";              ///< see confine/profile.h
  std::vector<std::string> readable = {};  ///< beside the system's files and the working folder
  std::size_t memory_bytes = 0;  ///< of all that it starts, in a control group; see GroupLimits
};

/// How such a program ended.
struct ConfinedRun : Captured {
  /// The system killed it, or what it started, as it does when memory is used up: its own control
  /// group's, or where there is none the machine's.
  bool starved = false;
  std::size_t memory_bytes = 0;  ///< what its control group let it use; 0: no group limited that
};

/// `spec`, changed to start behind the walls. Its folder is the only one that it may write, unless
/// `writes` is false.
[[nodiscard]] ProcessSpec confined(ProcessSpec spec, const Confinement& walls, bool writes = true);

/// run_program in a control group where the system has them; the group ends with the program.
/// `memory_bytes` as in GroupLimits. Errors as run_program.
[[nodiscard]] Result<ConfinedRun> run_grouped(ProcessSpec spec, std::chrono::milliseconds limit,
                                              const std::stop_token& stop, std::size_t output_limit,
                                              std::size_t memory_bytes = 0);

/// run_grouped behind the walls.
[[nodiscard]] Result<ConfinedRun> run_confined(const ProcessSpec& spec, const Confinement& walls,
                                               std::chrono::milliseconds limit,
                                               const std::stop_token& stop = {},
                                               std::size_t output_limit = std::size_t{1} << 20U);

}  // namespace ratchet
