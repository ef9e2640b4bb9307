#pragma once

// The checks before a step and before its result is recorded.

#include "server/runs/ledger/run_store.h"
#include "server/runs/runs.h"

namespace ratchet {

/// Refuses a run whose output directory now holds another run, which it would damage.
[[nodiscard]] Status own_folder(const RunState& state);

/// The run, held for recording something in it.
[[nodiscard]] Result<HeldRun> hold(RunStore& store, const RunId& run);

/// The run, held for a step on its open version. The stage and the files were checked, and missing
/// files were written again.
[[nodiscard]] Result<HeldRun> ready_for(RunStore& store, const RunId& run, Event event);

/// The run, held for recording the step that `permit` was given for.
/// Errors: `conflict` if the run has advanced since; `drift` if the contract's files were changed.
[[nodiscard]] Result<HeldRun> still_valid(RunStore& store, const Permit& permit, Event granted);

}  // namespace ratchet
