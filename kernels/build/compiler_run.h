#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/build/build_plan.h"
#include "kernels/build/warm_compiler.h"
#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// What the compiler said, and whether it was the plan's `fast` one.
struct CompilerRun {
  Captured output;
  bool fast = false;
};

/// How compilers are held: by a program that lets them read what is named and nothing else, and
/// write to their folder. Empty: not at all.
struct Confinement {
  std::filesystem::path program;  ///< ratchet-confine
  std::vector<std::string> readable;
};

/// What this process may use at the same time.
[[nodiscard]] unsigned available_processors();

/// Runs a plan's compiler in `work`, where all its files lie, with a minimal environment, an
/// address-space limit and a deadline.
///
/// Where `processors` are free (4 or more), the device-only check runs beside it: when that fails,
/// it is what comes back, earlier than the whole build would have failed; when it passes, it costs
/// nothing. Thread-safe. Errors: `unavailable` when the compiler cannot be started, `timed_out`
/// when `stop` asked for the end.
///
/// A device-only plan: `fast` first, whose failure says nothing; then `arguments`; at the same time
/// `beside`; then `finish`.
///
/// `fast` is run by `warm`, which gives it the source and puts the cubin that it prints in place.
[[nodiscard]] Result<CompilerRun> run_compiler(const BuildPlan& plan,
                                               const std::filesystem::path& work,
                                               std::chrono::seconds deadline,
                                               const std::stop_token& stop, WarmCompiler& warm,
                                               const Confinement& confinement = {},
                                               unsigned processors = available_processors());

}  // namespace ratchet
