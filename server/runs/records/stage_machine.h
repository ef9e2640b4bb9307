#pragma once

#include <array>

#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// Stages of a version, in order. `passed` and `abandoned` versions are closed; `finished` is the
/// last version after the final gate.
enum class Stage {
  open,
  built,
  correct,
  profiled,
  evidenced,
  hypothesized,
  passed,
  abandoned,
  finished
};
constexpr auto enum_names(Stage) {
  using enum Stage;
  return std::array{std::pair{open, "open"},           std::pair{built, "built"},
                    std::pair{correct, "correct"},     std::pair{profiled, "profiled"},
                    std::pair{evidenced, "evidenced"}, std::pair{hypothesized, "hypothesised"},
                    std::pair{passed, "passed"},       std::pair{abandoned, "abandoned"},
                    std::pair{finished, "finished"}};
}

/// What can happen to a version.
enum class Event {
  submitted,        ///< submit_kernel built it
  build_failed,     ///< submit_kernel failed to build it: the stage stays
  checked,          ///< check_correctness passed
  check_failed,     ///< back to open, one retry
  profiled,         ///< profile_kernel measured it
  profile_invalid,  ///< timing is invalid or the kernel failed: back to open, one retry
  evidence_written,
  hypothesis_written,
  gate_passed,  ///< next version opens
  final_gate_passed,
  abandoned,        ///< after the last retry
  benchmarked,      ///< never changes the stage
  reported,         ///< write_report, after the final gate
  proposed,         ///< propose_methods: the stage stays
  explored,         ///< explore_branches found a champion, which was checked
  branches_failed,  ///< no branch is correct: one retry
  ablated,          ///< ablate: the stage stays
  sanitized,        ///< sanitize_kernel: the stage stays
  tuned,            ///< tune_dispatch, after the final gate: the stage stays
};
constexpr auto enum_names(Event) {
  using enum Event;
  return as_written<submitted, build_failed, checked, check_failed, profiled, profile_invalid,
                    evidence_written, hypothesis_written, gate_passed, final_gate_passed, abandoned,
                    benchmarked, reported, proposed, explored, branches_failed, ablated, sanitized,
                    tuned>();
}

/// The stage that follows when `event` happens at `stage`, from one table. Pure.
/// Errors: `wrong_stage`; what to do instead depends on the whole run (`rules/guidance.h`).
[[nodiscard]] Result<Stage> advance(Stage stage, Event event);

}  // namespace ratchet
