#pragma once

#include <filesystem>
#include <stop_token>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/options.h"

namespace ratchet {

/// The index files that `ratchet kbs` works on.
struct KbsIndexes {
  std::filesystem::path builtin;  ///< of the shipped wiki; empty when it is disabled
  std::filesystem::path user;     ///< of added corpora; may not exist
};

/// What a command prints, and whether its indexes are in order.
struct KbsReport {
  Json body;
  bool healthy = true;
};

/// Runs `kbs add`, `remove`, `stats` or `doctor`. Progress goes to stderr.
/// Errors: those of kbs/commands.h.
[[nodiscard]] Result<KbsReport> run_kbs_command(const Options& options, const KbsIndexes& indexes,
                                                const std::stop_token& stop);

}  // namespace ratchet
