#include "kernels/process/checked_processes.h"

#include <algorithm>

#include "kernels/process/endings.h"

namespace ratchet {

CheckedProcesses::~CheckedProcesses() {
  Endings endings;
  for (auto& [binary, process] : kept_) endings.add(std::move(process));
}

CheckedProcesses& CheckedProcesses::operator=(CheckedProcesses&& other) noexcept {
  std::swap(kept_, other.kept_);  // which end with the other, all at once
  return *this;
}

void CheckedProcesses::keep(std::string binary, CandidateProcess process) {
  kept_.emplace_back(std::move(binary), std::move(process));
}

std::optional<CandidateProcess> CheckedProcesses::take(const std::string& binary) {
  const auto found =
      std::ranges::find(kept_, binary, &std::pair<std::string, CandidateProcess>::first);
  if (found == kept_.end()) return std::nullopt;
  auto process = std::move(found->second);
  kept_.erase(found);
  return process;
}

}  // namespace ratchet
