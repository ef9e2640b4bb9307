#pragma once

// Parts that several answers share: the state of a run, and refusals.

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/runs/ledger/run_store.h"
#include "server/runs/records/run_views.h"

namespace ratchet {

/// The state of the run, with what `guidance` allows.
[[nodiscard]] RunView view_of(const RunState& state);
/// The same after a commit, or the commit's error.
[[nodiscard]] Result<RunView> view_after(const Result<StatePtr>& committed);

/// Absolute paths of files below the output directory.
[[nodiscard]] std::vector<std::string> absolute_paths(const RunState& state,
                                                      const std::vector<std::string>& paths);
/// `view_after` with the absolute paths of the files that belong to the answer.
[[nodiscard]] Result<ArtifactAnswer> artifacts_after(const Result<StatePtr>& committed,
                                                     const std::vector<std::string>& paths);

/// One line for each branch of the run that works and was not chosen; masked versions left out.
[[nodiscard]] std::vector<std::string> frontier_of(const RunState& state);

[[nodiscard]] Error no_version(const RunId& run, VersionId id);
[[nodiscard]] Error masked_version(VersionId id);

}  // namespace ratchet
