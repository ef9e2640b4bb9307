#pragma once

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// What a run allows and asks for now. Every answer's `allowed` and `next`, and the hint of every
/// refusal that is about the order of steps, come from here.
struct Guidance {
  std::vector<std::string> allowed;  ///< tools that the order of steps permits, most useful first
  std::string next;                  ///< one or two sentences; the first call that they name works
};

/// `on_disk` is what `disk::inspect` found, as far as the caller looked: files that stop a step
/// come first. Nothing here ever asks to delete or overwrite a file. Pure.
[[nodiscard]] Guidance guidance(const RunState& state, const std::vector<Reason>& on_disk = {});

/// Why the open version may not do this step now: its stage, or no retry left. The hint is `next`.
[[nodiscard]] Status step_allowed(const RunState& state, Event event);

/// A refusal whose hint is `next` of this state.
[[nodiscard]] Error out_of_order(const RunState& state, std::string message);

}  // namespace ratchet
