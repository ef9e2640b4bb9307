#include "kernels/process/checked_processes.h"

#include <algorithm>
#include <utility>

namespace ratchet {

void CheckedProcesses::keep(std::string binary, CandidateProcess process) {
  kept_.all.emplace_back(std::move(binary), std::move(process));
}

std::optional<CandidateProcess> CheckedProcesses::take(const std::string& binary) {
  const auto found =
      std::ranges::find(kept_.all, binary, &std::pair<std::string, CandidateProcess>::first);
  if (found == kept_.all.end()) return std::nullopt;
  auto process = std::move(found->second);
  kept_.all.erase(found);
  return process;
}

}  // namespace ratchet
