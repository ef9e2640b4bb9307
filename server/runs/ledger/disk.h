#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet::disk {

inline constexpr const char* kStateFile = "current_iteration.txt";

/// Which files are compared. Both extents also look for unexpected version folders and kernels.
enum class Extent {
  step,   ///< the contract and the files of the open version, its parent and v0: all that a step
          ///< on the open version uses, so that its cost does not grow with the run
  whole,  ///< every file that the ledger rendered, and the state file
};

/// How the output directory differs from what the ledger rendered; `guidance` says what to do about
/// it. Every file is read and its digest compared. Codes: `folder_taken` (alone: the folder holds
/// another run), `folder_missing`, `contract_changed`, `kernel_changed`, `earlier_version_changed`,
/// `artifact_changed`, `artifact_missing`, `state_file_changed`, `state_file_missing`,
/// `future_artifacts`, `bad_version_name`, `several_kernels`, `foreign_suffix`. Writes nothing.
[[nodiscard]] std::vector<Reason> inspect(const RunState& state, Extent extent);

/// Whether the contract in the output directory is another run's: `folder_taken`.
[[nodiscard]] std::optional<Reason> taken(const RunState& state);

/// Only the contract's own files: the reference and contract.json.
[[nodiscard]] std::vector<Reason> inspect_contract(const RunState& state);

/// Paths of the missing artifacts among the findings; all artifacts if the folder is missing.
[[nodiscard]] std::vector<std::string> missing(const RunState& state,
                                               const std::vector<Reason>& findings);

/// The findings that stop a step: another run in the folder, a changed contract, changed earlier
/// versions, files of later versions and, except for a submission, a changed kernel file. The gate
/// checks the others. Without a hint: `guidance` has the way on.
[[nodiscard]] std::optional<Error> blocking(const std::vector<Reason>& findings, Event event);

/// Makes room for a run in a folder that is not empty: moves what an earlier run left there, by its
/// file and folder names, into `previous-<suffix>/`. Other files stay in place. Errors: `conflict`
/// when files have such names and the folder is not a run's, which `may_move_aside` tells without
/// moving anything.
[[nodiscard]] Status may_move_aside(const std::filesystem::path& folder);
[[nodiscard]] Status move_aside(const std::filesystem::path& folder, const std::string& suffix);

}  // namespace ratchet::disk
