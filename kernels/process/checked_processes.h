#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/process/candidate_process.h"

namespace ratchet {

/// Processes of kernels that have just passed their checks, for the race that only ranks them: on a
/// GPU one takes a third of a second to begin and to end, and drivers do that one after another.
/// Who takes one has it alone. The destructor ends those that nobody took, all at once.
///
/// One thread at a time.
class CheckedProcesses {
 public:
  CheckedProcesses() = default;
  CheckedProcesses(CheckedProcesses&&) = default;
  CheckedProcesses& operator=(CheckedProcesses&& other) noexcept;
  CheckedProcesses(const CheckedProcesses&) = delete;
  CheckedProcesses& operator=(const CheckedProcesses&) = delete;
  ~CheckedProcesses();

  /// `binary`: the digest of what it has loaded.
  void keep(std::string binary, CandidateProcess process);
  /// The one of this binary, loaded, which may have died since; empty if there is none.
  std::optional<CandidateProcess> take(const std::string& binary);

  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  std::vector<std::pair<std::string, CandidateProcess>> kept_;
};

}  // namespace ratchet
