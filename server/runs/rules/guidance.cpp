#include "server/runs/rules/guidance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "server/core/origin.h"
#include "server/runs/records/markdown.h"
#include "server/runs/records/source_text.h"
#include "server/runs/rules/prose.h"

namespace ratchet {
namespace {

using Tools = std::vector<std::string>;

/// The open version has no retry left and no kernel to go on with.
bool is_stuck(const RunState& state) {
  const auto& open = state.open();
  return state.retries_exhausted() &&
         open.stage == (open.id.number == 0 ? Stage::built : Stage::open);
}

bool failed_check(const VersionState& version) {
  return version.correctness && !version.correctness->passed;
}

bool is_reported(const RunState& state) {
  const auto report = state.file_rows.find("final_report.md");
  const auto benchmark = state.file_rows.find("benchmark.md");
  return report != state.file_rows.end() && benchmark != state.file_rows.end() &&
         report->second > benchmark->second;
}

/// v0's kernel is the contract's, so one that fails leads to another run.
Guidance failed_v0(const RunState& state) {
  Guidance guide{{"create_run", "run_status"},
                 "v0 failed its check, and its kernel is frozen in the contract: call create_run "
                 "with a kernel that matches its reference and with a new output_dir."};
  if (!is_stuck(state)) guide.allowed.insert(guide.allowed.begin() + 1, "check_correctness");
  return guide;
}

Guidance open_version(const RunState& state) {
  const auto& open = state.open();
  const std::string id = open.id.text();
  if (is_stuck(state))
    return {{"check_gate", "run_status"},
            fmt::format("{} has no retry left: call check_gate with abandon: true, which records "
                        "it as failed.",
                        id)};
  Tools allowed{"submit_kernel", "propose_methods", "explore_branches",
                "query_kbs",     "run_status",      "extend_run"};
  if (!open.methods) std::erase(allowed, "explore_branches");
  if (open.retries_used > 0)
    return {allowed, fmt::format("{} failed ({} of {} retries used): call submit_kernel with a "
                                 "corrected kernel.",
                                 id, open.retries_used, state.contract.contract.retries)};
  const auto* const tested = tested_hypothesis(state, open);
  return {allowed,
          fmt::format("Call submit_kernel with the kernel of {}{}.", id,
                      tested == nullptr
                          ? ""
                          : "; it tests: " + behind_fence(markdown::one_line(tested->change)))};
}

Guidance profiled_version(const RunState& state) {
  const auto& open = state.open();
  Guidance guide{{"query_kbs", "write_kbs_evidence", "profile_kernel", "ablate", "benchmark",
                  "submit_kernel", "run_status", "extend_run"},
                 ""};
  std::string purposes;
  if (!was_queried(state, open, "kernel")) purposes = "kernel";
  if (!was_queried(state, open, "bottleneck"))
    purposes += purposes.empty() ? "bottleneck" : ", then again with purpose: bottleneck";
  guide.next = purposes.empty() ? fmt::format("Call write_kbs_evidence for {}.", open.id.text())
                                : fmt::format(
                                      "Call query_kbs with run and purpose: {}; then "
                                      "write_kbs_evidence for {}.",
                                      purposes, open.id.text());
  return guide;
}

/// The stages from evidence to the gate.
Guidance evidenced_version(const RunState& state) {
  const auto& open = state.open();
  Guidance guide{{"write_hypothesis", "write_kbs_evidence", "ablate", "benchmark", "query_kbs",
                  "submit_kernel", "run_status", "extend_run"},
                 ""};
  if (open.stage == Stage::hypothesized || state.at_last_version())
    guide.allowed.insert(guide.allowed.begin(), "check_gate");
  if (state.at_last_version())
    guide.next = fmt::format(
        "{} is the last version: call check_gate with final: true, or extend_run for more.",
        open.id.text());
  else if (open.stage == Stage::hypothesized)
    guide.next = "Call check_gate.";
  else
    guide.next = fmt::format("Call write_hypothesis for the change after {}.", open.id.text());
  return guide;
}

Guidance finished_run(const RunState& state) {
  Guidance guide{
      {"benchmark", "tune_dispatch", "write_report", "extend_run", "query_kbs", "run_status"}, ""};
  if (!state.final_benchmark)
    guide.next = "Call benchmark, then write_report.";
  else if (!is_reported(state))
    guide.next = "Call write_report.";
  else
    guide.next = fmt::format(
        "The run is complete: {}/final_report.md is its report. extend_run adds versions.",
        state.contract.output_dir);
  return guide;
}

/// By stage, retries and the last version alone.
Guidance by_stage(const RunState& state) {
  const auto& open = state.open();
  const std::string id = open.id.text();
  switch (open.stage) {
    case Stage::open:
      return open_version(state);
    case Stage::built:
      if (open.id.number == 0 && (failed_check(open) || is_stuck(state))) return failed_v0(state);
      return {{"check_correctness", "submit_kernel", "query_kbs", "run_status", "extend_run"},
              fmt::format("Call check_correctness for {}.", id)};
    case Stage::correct:
      return {{"profile_kernel", "submit_kernel", "benchmark", "check_correctness", "query_kbs",
               "run_status", "extend_run"},
              fmt::format("Call profile_kernel for {}.", id)};
    case Stage::profiled:
      return profiled_version(state);
    case Stage::evidenced:
    case Stage::hypothesized:
      return evidenced_version(state);
    case Stage::abandoned:
      return {{"check_gate", "extend_run", "run_status"},
              fmt::format("{} was the last version and was abandoned: call check_gate with "
                          "final: true, or extend_run for more.",
                          id)};
    case Stage::finished:
      return finished_run(state);
    case Stage::passed:
      break;
  }
  return {{"run_status"}, "Call run_status."};
}

/// The run's folder now holds another run.
Guidance without_folder(const RunState& state) {
  const auto start = state.versions.rbegin();
  const auto correct = std::find_if(start, state.versions.rend(), [&](const VersionState& version) {
    return version.is_correct() && !state.masked.contains(version.id);
  });
  if (correct == state.versions.rend())
    return {{"create_run", "run_status"},
            "To go on, call create_run with the kernel, its reference and a new output_dir."};
  return {{"create_run", "run_status"},
          fmt::format("To go on, call create_run with fork_from: {{\"run\": \"{}\", \"version\": "
                      "\"{}\"}} and a new output_dir.",
                      state.run.text, correct->id.text())};
}

/// Files that must leave the folder before the gate opens; the server writes its own again.
std::vector<std::string> files_to_move(const std::vector<Reason>& on_disk) {
  constexpr std::array<std::string_view, 8> kInTheWay{
      "contract_changed", "kernel_changed",   "earlier_version_changed", "artifact_changed",
      "future_artifacts", "bad_version_name", "several_kernels",         "foreign_suffix"};
  std::vector<std::string> paths;
  for (const auto& finding : on_disk)
    if (finding.path && std::ranges::find(kInTheWay, finding.code) != kInTheWay.end())
      paths.push_back(*finding.path);
  return paths;
}

std::string listed(const std::vector<std::string>& paths) {
  constexpr std::size_t kMostNamed = 3;
  const auto shown = std::min(paths.size(), kMostNamed);
  auto text =
      fmt::format("{}", fmt::join(paths.begin(), paths.begin() + static_cast<int>(shown), ", "));
  if (paths.size() > shown) text += fmt::format(" and {} more files", paths.size() - shown);
  return text;
}

/// Whether the stage is already past this step, so that only a new submission can repeat it.
bool is_behind(Stage stage, Event event) {
  const auto started = [&](Stage from) { return stage >= from && stage <= Stage::hypothesized; };
  if (event == Event::checked || event == Event::check_failed) return started(Stage::profiled);
  if (event == Event::profiled || event == Event::profile_invalid) return started(Stage::evidenced);
  return false;
}

}  // namespace

Guidance guidance(const RunState& state, const std::vector<Reason>& on_disk) {
  if (std::ranges::find(on_disk, "folder_taken", &Reason::code) != on_disk.end())
    return without_folder(state);
  Guidance guide = by_stage(state);
  const auto& open = state.open();
  if (open.id.number == 0) std::erase(guide.allowed, "submit_kernel");
  const auto paths = files_to_move(on_disk);
  if (paths.empty()) return guide;
  const std::string& folder = state.contract.output_dir;
  if (paths.front() == folder) {
    guide.next = fmt::format("Put {} back as the plain folder that it was. {}", folder, guide.next);
    return guide;
  }
  const std::string kernel =
      open.id.text() + "/" + kernel_file_name(state.contract.contract.implementation);
  const bool may_submit = std::ranges::find(guide.allowed, "submit_kernel") != guide.allowed.end();
  if (may_submit && paths == std::vector{kernel})
    guide.next = fmt::format(
        "Call submit_kernel with path: {}/{} to build the changed file. Or move it out of {} to go "
        "on with the kernel that was submitted.",
        folder, kernel, folder);
  else
    guide.next = fmt::format(
        "First move {} out of {}; the next call writes the recorded files "
        "again. {}",
        listed(paths), folder, guide.next);
  return guide;
}

Status step_allowed(const RunState& state, Event event) {
  const auto& open = state.open();
  if (auto next = stage_after(open, event); !next) {
    auto refused = out_of_order(state, fmt::format("{} of run {}: {}", open.id.text(),
                                                   state.run.text, next.error().message));
    if (is_behind(open.stage, event) && open.id.number > 0)
      refused.hint += " submit_kernel would start this version over.";
    return refused;
  }
  const bool tries = event == Event::submitted || event == Event::checked ||
                     event == Event::proposed || event == Event::explored;
  if (!tries || !is_stuck(state)) return {};
  return out_of_order(state, fmt::format("{} of run {} failed {} times and has no retry left",
                                         open.id.text(), state.run.text, open.retries_used));
}

Error out_of_order(const RunState& state, std::string message) {
  return {ErrorCode::wrong_stage, std::move(message), guidance(state).next};
}

}  // namespace ratchet
