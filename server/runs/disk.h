#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/runs/run_state.h"

namespace ratchet::disk {

inline constexpr const char* kStateFile = "current_iteration.txt";

/// What in the output directory differs from what the ledger rendered, every finding with its way
/// back. Codes: `folder_missing`, `contract_changed`, `kernel_changed`, `earlier_version_changed`,
/// `artifact_changed`, `artifact_missing`, `state_file_changed`, `state_file_missing`,
/// `future_artifacts`, `bad_version_name`, `several_kernels`, `foreign_suffix`. Reads only.
[[nodiscard]] std::vector<Reason> inspect(const RunState& state);

/// Only the contract's own files (reference and contract.json).
[[nodiscard]] std::vector<Reason> inspect_contract(const RunState& state);

/// The findings that stop a step: a changed contract, changed earlier or premature later versions,
/// and, but for a submission, a kernel file that is not what was submitted. The rest waits for the
/// gate.
[[nodiscard]] std::optional<Error> blocking(const std::vector<Reason>& findings, Event event);

/// Moves what an earlier run left in the folder (the files and version folders of our layout) into
/// `previous-<suffix>/`; everything else stays where it is.
[[nodiscard]] Status move_aside(const std::filesystem::path& folder, const std::string& suffix);

}  // namespace ratchet::disk
