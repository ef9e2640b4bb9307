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

/// How much of the output directory is looked at. Of either, which folders of versions there are.
enum class Extent {
  step,   ///< the contract, and all files of the open version, of its parent and of v0: what a
          ///< step on the open version works on and is compared with, however many others there are
  whole,  ///< every file that the ledger rendered, and the state file
};

/// What in the output directory differs from what the ledger rendered, every finding with its way
/// back. Codes: `folder_missing`, `contract_changed`,
/// `kernel_changed`, `earlier_version_changed`, `artifact_changed`, `artifact_missing`,
/// `state_file_changed`, `state_file_missing`, `future_artifacts`, `bad_version_name`,
/// `several_kernels`, `foreign_suffix`. Reads only.
[[nodiscard]] std::vector<Reason> inspect(const RunState& state, Extent extent);

/// Only the contract's own files (reference and contract.json).
[[nodiscard]] std::vector<Reason> inspect_contract(const RunState& state);

/// Paths among the findings' artifacts that are missing; all artifacts where the folder is.
[[nodiscard]] std::vector<std::string> missing(const RunState& state,
                                               const std::vector<Reason>& findings);

/// The findings that stop a step: a changed contract, changed earlier or premature later versions,
/// and, but for a submission, a kernel file that is not what was submitted. The rest waits for the
/// gate.
[[nodiscard]] std::optional<Error> blocking(const std::vector<Reason>& findings, Event event);

/// Moves what an earlier run left in the folder (the files and version folders of our layout) into
/// `previous-<suffix>/`; everything else stays where it is.
[[nodiscard]] Status move_aside(const std::filesystem::path& folder, const std::string& suffix);

}  // namespace ratchet::disk
