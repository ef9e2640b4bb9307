#pragma once

#include <stop_token>

#include "kernels/lab.h"
#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/options.h"

namespace ratchet {

/// What a command prints, and whether the problem is in order.
struct ProblemReport {
  Json body;
  bool healthy = true;
};

/// What `problem import` asks of the tool `import_problem`: by default, a folder of the problem's
/// name in problems/.
[[nodiscard]] Json import_arguments(const Options& options);

/// Runs `problem list`, `show` or `check`. A check tries the reference and the control answers as
/// create_run does, then judges the kernel that the problem brings; nothing is recorded.
/// Errors: `not_found` for a name that is no problem; those of the laboratory.
[[nodiscard]] Result<ProblemReport> run_problem_command(Lab& lab, const Options& options,
                                                        const std::stop_token& stop);

}  // namespace ratchet
