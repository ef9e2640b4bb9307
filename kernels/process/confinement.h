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
};

/// `spec`, changed to start behind the walls. Its folder is the only one that it may write, unless
/// `writes` is false.
[[nodiscard]] ProcessSpec confined(ProcessSpec spec, const Confinement& walls, bool writes = true);

/// run_program behind the walls, in a control group where the system has them; the group ends with
/// the program. Errors as run_program.
[[nodiscard]] Result<Captured> run_confined(const ProcessSpec& spec, const Confinement& walls,
                                            std::chrono::milliseconds limit,
                                            const std::stop_token& stop = {},
                                            std::size_t output_limit = std::size_t{1} << 20U);

}  // namespace ratchet
