#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/process/control_group.h"
#include "server/core/process.h"
#include "server/core/result.h"
#include "server/facts/correctness.h"

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
  /// It was killed, or what it started, because memory was used up: by the system at the limit of
  /// its control group, else by the server at the same limit (`excess`), or because the machine had
  /// no more.
  bool starved = false;
  std::size_t memory_bytes = 0;  ///< what it might use, together with all that it starts
  std::optional<Fault> excess;   ///< why the server killed it; see excess_of

  /// "exit code 3", "deadline", or what it used too much of.
  [[nodiscard]] std::string ending() const;
};

/// `spec`, changed to start behind the walls. Its folder is the only one that it may write, unless
/// `writes` is false.
[[nodiscard]] ProcessSpec confined(ProcessSpec spec, const Confinement& walls, bool writes = true);

/// run_program with limits on the memory and the processes of all that it starts, which the server
/// counts as far as `group`, or null, does not take them. Errors as run_program.
[[nodiscard]] Result<ConfinedRun> run_counted(ProcessSpec spec, std::chrono::milliseconds limit,
                                              const std::stop_token& stop, std::size_t output_limit,
                                              const GroupLimits& limits, const ControlGroup* group);

/// run_counted in a control group where the system has them; the group ends with the program.
/// `memory_bytes` as in GroupLimits.
[[nodiscard]] Result<ConfinedRun> run_grouped(ProcessSpec spec, std::chrono::milliseconds limit,
                                              const std::stop_token& stop, std::size_t output_limit,
                                              std::size_t memory_bytes = 0);

/// run_grouped behind the walls.
[[nodiscard]] Result<ConfinedRun> run_confined(const ProcessSpec& spec, const Confinement& walls,
                                               std::chrono::milliseconds limit,
                                               const std::stop_token& stop = {},
                                               std::size_t output_limit = std::size_t{1} << 20U);

}  // namespace ratchet
