#pragma once

#include <optional>
#include <string>

#include "kernels/process/candidate_process.h"
#include "kernels/process/endings.h"

namespace ratchet {

/// Processes of kernels that have just passed their checks, for the race that only ranks them: on a
/// GPU one takes a third of a second to begin and to end, and drivers do that one after another.
/// Who takes one has it alone. Those that nobody took end with it.
///
/// One thread at a time.
class CheckedProcesses {
 public:
  /// `binary`: the digest of what it has loaded.
  void keep(std::string binary, CandidateProcess process);
  /// The one of this binary, loaded, which may have died since; empty if there is none.
  std::optional<CandidateProcess> take(const std::string& binary);

  [[nodiscard]] std::size_t size() const { return kept_.all.size(); }

 private:
  EndTogether<std::string, CandidateProcess> kept_;
};

}  // namespace ratchet
