#pragma once

#include <memory>
#include <stop_token>

#include "kernels/lab.h"
#include "server/core/result.h"
#include "server/options.h"

namespace ratchet {

/// This machine's lab, and with `--lab` others. Errors: those of `Lab::open` and of `parse_lab`.
[[nodiscard]] Result<std::unique_ptr<Lab>> open_lab(const Options& options);

/// `ratchet lab`: serves this machine's lab on the real stdin and stdout; what else is printed goes
/// to stderr. Returns the exit status.
[[nodiscard]] int serve_as_lab(const Options& options, const std::stop_token& stop);

}  // namespace ratchet
