#pragma once

#include <string>

#include "server/core/fields.h"

// Runs for people, in 80 columns, from the structured answers of tools. Pure functions.

namespace ratchet {

/// One row for each version of `run_status`, and the best one.
[[nodiscard]] std::string versions_table(const Json& status);

/// All of `run_status` that a person asks for first.
[[nodiscard]] std::string run_page(const Json& status);

/// One row for each run of `list_runs`.
[[nodiscard]] std::string runs_table(const Json& list);

}  // namespace ratchet
