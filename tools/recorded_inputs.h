#pragma once

#include <filesystem>

#include "server/core/roots.h"
#include "server/facts/problem_import.h"

namespace ratchet {

/// Reads the files of safetensors that the workloads of a gathered problem name, from below
/// `folder` or a folder above it, inside the roots, as base64 into `recorded`. What is not read
/// goes into `unread`, with the reason and the way on. Only bytes are read: what they hold is
/// looked at behind the walls. Thread-safe.
void add_recorded_inputs(const Roots& roots, const std::filesystem::path& folder,
                         ProblemImport& import);

}  // namespace ratchet
