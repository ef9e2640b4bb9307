#pragma once

#include <string>

#include "server/core/field.h"
#include "server/core/result.h"
#include "server/options.h"
#include "server/runs/runs.h"

namespace ratchet {

/// What a command answers: for programs, and for people.
struct RunsReport {
  Json body;
  std::string text;
};

/// `ratchet runs`, `show` and `budget`. Errors: those of `Runs`.
[[nodiscard]] Result<RunsReport> run_runs_command(Runs& runs, const Options& options);

}  // namespace ratchet
