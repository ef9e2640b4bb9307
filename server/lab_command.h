#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "kernels/lab.h"
#include "kernels/labs/remote_lab.h"
#include "server/core/result.h"
#include "server/options.h"

namespace ratchet {

/// The labs of `--lab` and `--labs`. Errors: those of `parse_lab` and `read_labs`, and
/// `invalid_argument` for a name that two have.
[[nodiscard]] Result<std::vector<RemoteLabOptions>> remote_labs(const Options& options);

/// This machine's lab, and with `--lab` others. Errors: those of `Lab::open` and `remote_labs`.
[[nodiscard]] Result<std::unique_ptr<Lab>> open_lab(const Options& options);

/// Ends all that a server still runs: the commands of labs are asked to, so that they give back
/// what they hold, and waited for a little; then everything is killed.
void end_programs(Lab& lab);

/// `ratchet lab`: serves this machine's lab on the real stdin and stdout; what else is printed goes
/// to stderr. Returns the exit status.
[[nodiscard]] int serve_as_lab(const Options& options, const std::stop_token& stop);

}  // namespace ratchet
