#include "server/runs/views.h"

#include <fmt/format.h>

#include <filesystem>

#include "server/core/origin.h"
#include "server/runs/records/markdown.h"
#include "server/runs/rules/guidance.h"

namespace ratchet {
RunView view_of(const RunState& state) {
  const auto& open = state.open();
  return {state.run, open.id, open.stage, guidance(state).allowed};
}

Result<RunView> view_after(const Result<StatePtr>& committed) {
  if (!committed) return committed.error();
  return view_of(**committed);
}

std::vector<std::string> absolute_paths(const RunState& state,
                                        const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const auto& path : paths)
    absolute.push_back((std::filesystem::path(state.contract.output_dir) / path).string());
  return absolute;
}

Result<ArtifactAnswer> artifacts_after(const Result<StatePtr>& committed,
                                       const std::vector<std::string>& paths) {
  if (!committed) return committed.error();
  return ArtifactAnswer{view_of(**committed), absolute_paths(**committed, paths)};
}

std::vector<std::string> frontier_of(const RunState& state) {
  std::vector<std::string> lines;
  for (const auto& version : state.versions) {
    if (state.masked.contains(version.id)) continue;
    for (const auto& exploration : version.explorations)
      for (const auto& branch : exploration.branches) {
        if (branch.status != BranchStatus::frontier) continue;
        const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
        lines.push_back(fmt::format(
            "{}/{}: {}{}{}", version.id.text(), branch.name,
            compared ? fmt::format("{:.3f}x {}", compared->speedup, exploration.incumbent.text())
                     : std::string("not timed"),
            branch.note ? ", " : "",
            branch.note ? behind_fence(markdown::one_line(*branch.note)) : ""));
      }
  }
  return lines;
}

Error no_version(const RunId& run, VersionId id) {
  return {ErrorCode::not_found, fmt::format("run {} has no {}", run.text, id.text()),
          "run_status lists the versions."};
}

Error masked_version(VersionId id) {
  return {ErrorCode::not_permitted,
          fmt::format("version {} is masked, so it is withheld from every answer", id.text()),
          "Call mask_memory with mask: false to show it again."};
}

}  // namespace ratchet
