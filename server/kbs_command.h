#pragma once

#include <filesystem>
#include <stop_token>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/options.h"

namespace ratchet {

/// The indexes that `ratchet kbs` works on.
struct KbsIndexes {
  std::filesystem::path builtin;  ///< of the shipped wiki; empty when it is left out
  std::filesystem::path user;     ///< of added corpora; may not exist
};

/// Does `kbs add`, `remove`, `stats` or `doctor`; progress goes to stderr. The value is what to
/// print and whether all is well. Errors: those of kbs/commands.h.
struct KbsReport {
  Json body;
  bool healthy = true;
};
[[nodiscard]] Result<KbsReport> run_kbs_command(const Options& options, const KbsIndexes& indexes,
                                                const std::stop_token& stop);

}  // namespace ratchet
