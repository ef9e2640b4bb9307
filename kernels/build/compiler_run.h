#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stop_token>

#include "kernels/build/build_plan.h"
#include "kernels/build/warm_compiler.h"
#include "kernels/process/confinement.h"
#include "server/core/result.h"

namespace ratchet {

/// Of each process of a compiler: cicc reserves far more than it uses.
inline constexpr std::size_t kCompilerAddressSpace = std::size_t{24} << 30U;

/// The compiler's output, and whether it came from the plan's `fast` compiler.
struct CompilerRun {
  ConfinedRun output;
  bool fast = false;
};

/// Processors that this process may use at the same time.
[[nodiscard]] unsigned available_processors();

/// Runs a plan's compiler in `work`, which holds all its files, with a minimal environment, an
/// address-space limit and a deadline.
///
/// With 4 or more `processors`, the device-only check runs in parallel. If it fails, its output is
/// returned, earlier than the whole build would have failed; if it passes, it costs nothing.
/// Thread-safe. Errors: `unavailable` when the compiler cannot be started, `timed_out` when `stop`
/// was requested.
///
/// For a device-only plan, `fast` runs first and its failure is ignored; then `arguments`; `beside`
/// runs at the same time; `finish` runs last. `warm` runs `fast`: it passes the source and stores
/// the cubin that the program prints.
[[nodiscard]] Result<CompilerRun> run_compiler(const BuildPlan& plan,
                                               const std::filesystem::path& work,
                                               std::chrono::seconds deadline,
                                               const std::stop_token& stop, WarmCompiler& warm,
                                               const Confinement& confinement = {},
                                               unsigned processors = available_processors());

}  // namespace ratchet
