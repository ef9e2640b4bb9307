#include "server/runs/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "server/runs/records/markdown.h"

namespace ratchet {
namespace {

bool is_stuck_v0(const RunState& state) {
  return state.open().id.number == 0 && state.open().stage == Stage::built &&
         state.retries_exhausted();
}

std::string tested_text(const RunState& state) {
  const auto* const tested = tested_hypothesis(state, state.open());
  return tested == nullptr ? "" : "; it tests: " + behind_fence(markdown::one_line(tested->change));
}

}  // namespace

RunView view_of(const RunState& state) {
  const auto& open = state.open();
  RunView view{state.run, open.id, open.stage, allowed_tools(open.stage)};
  if (open.id.number == 0) std::erase(view.allowed, "submit_kernel");
  if (is_stuck_v0(state)) view.allowed = {"create_run", "run_status"};
  if (open.stage == Stage::open && state.retries_exhausted())
    view.allowed = {"check_gate", "run_status"};
  // The last version may close without a hypothesis.
  if (open.stage == Stage::evidenced && state.at_last_version())
    view.allowed.insert(view.allowed.begin(), "check_gate");
  return view;
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

Error refusal(const RunState& state, Error error) {
  if (is_stuck_v0(state))
    error.hint = "Call create_run with a kernel that matches the reference.";
  else if (state.open().stage == Stage::open && state.retries_exhausted())
    error.hint = "Call check_gate with abandon.";
  return error;
}

std::string next_step(const RunState& state) {
  const auto& open = state.open();
  const std::string id = open.id.text();
  if (is_stuck_v0(state))
    return "v0 never passed its check: call create_run with a kernel that matches the reference.";
  switch (open.stage) {
    case Stage::open:
      if (state.retries_exhausted())
        return fmt::format("{} used up its retries: call check_gate with abandon.", id);
      return fmt::format("Call submit_kernel with the kernel of {}{}.", id, tested_text(state));
    case Stage::built:
      return fmt::format("Call check_correctness for {}.", id);
    case Stage::correct:
      return fmt::format("Call profile_kernel for {}.", id);
    case Stage::profiled:
      return fmt::format(
          "Call query_kbs with run (purpose kernel, then bottleneck), then "
          "write_kbs_evidence for {}.",
          id);
    case Stage::evidenced:
    case Stage::hypothesized:
      if (state.at_last_version())
        return fmt::format("{} is the last version: call check_gate with final, or extend_run.",
                           id);
      if (open.stage == Stage::hypothesized) return "Call check_gate.";
      return fmt::format("Call write_hypothesis for the change after {}.", id);
    case Stage::passed:
      return "Call run_status.";
    case Stage::abandoned:
      return "The last version was abandoned: call check_gate with final, or extend_run.";
    case Stage::finished:
      return state.final_benchmark ? "Call write_report, or extend_run for more versions."
                                   : "Call benchmark, then write_report.";
  }
  return "Call run_status.";
}

Error no_version(const RunId& run, VersionId id) {
  return {ErrorCode::not_found, fmt::format("run {} has no {}", run.text, id.text()),
          "run_status lists the versions."};
}

Error masked_version(VersionId id) {
  return {ErrorCode::not_permitted, fmt::format("{} is masked", id.text()),
          "Call mask_memory with mask false to unmask it."};
}

}  // namespace ratchet
