#include <fmt/format.h>

#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::one_line;

std::string head(const RunState& state, const std::string& time) {
  return markdown::bullets({{"Run", state.run.text},
                            {"Contract SHA-256", state.contract.contract_digest},
                            {"Device", device_text(state)},
                            {"Tools", tools_text(state, state.versions.front())},
                            {"Time", time}});
}

Rendered attempts(const RunState& state, const std::string& time) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& attempt : state.attempts)
    rows.push_back({std::to_string(attempt.sequence), attempt.time, attempt.version.text(),
                    attempt.kind, std::string(name_of(attempt.event)), attempt.outcome,
                    attempt.source_digest.substr(0, 12)});
  return {"ledgers/attempt-ledger.md",
          fmt::format("# Attempt Ledger\n\n{}\n{}", head(state, time),
                      markdown::table({"Row", "Time", "Version", "Step", "Event", "Outcome",
                                       "Source SHA-256 (start)"},
                                      rows))};
}

/// Only gains that a paired interval confirmed.
Rendered gains(const RunState& state, const std::string& time) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    const auto* const comparison = against_parent(version);
    if (!version.is_correct() || comparison == nullptr || comparison->verdict != Verdict::faster)
      continue;
    const auto* const tested = tested_hypothesis(state, version);
    rows.push_back({version.id.text(), version.parent->text(),
                    tested == nullptr ? "-" : tested->change, number(comparison->speedup),
                    fmt::format("{} … {}", number(comparison->ci_low), number(comparison->ci_high)),
                    std::to_string(comparison->pairs)});
  }
  return {"ledgers/optimization-ledger.md",
          fmt::format("# Optimization Ledger\n\n{}\n{}", head(state, time),
                      rows.empty() ? std::string("No verified gain yet.\n")
                                   : markdown::table({"Version", "Parent", "Change", "Speedup",
                                                      "95 % interval", "Pairs"},
                                                     rows))};
}

/// All branches that were tried for a version.
std::string branch_lines(const RunState& state, const VersionState& version) {
  std::string lines;
  for (const auto& exploration : version.explorations)
    for (const auto& branch : exploration.branches) {
      Json line{{"run", state.run.text},
                {"version", version.id.text() + "/" + branch.name},
                {"parent", exploration.incumbent.text()},
                {"source_sha256", branch.source_blob},
                {"motivation", branch.note ? Json(*branch.note) : Json(nullptr)},
                {"sources", Json::array()},
                {"result", name_of(branch.status)},
                {"decision", branch.status == BranchStatus::champion ? "selected" : "rejected"},
                {"abandoned", false}};
      lines += markdown::json_text(line) + "\n";
    }
  return lines;
}

Rendered lineage(const RunState& state) {
  std::string lines;
  for (const auto& version : state.versions) {
    if (!version.build) continue;
    const auto* const tested = tested_hypothesis(state, version);
    const auto verdict = verdict_of(version);
    Json line{{"run", state.run.text},
              {"version", version.id.text()},
              {"parent", version.parent ? Json(version.parent->text()) : Json(nullptr)},
              {"source_sha256", version.build->source_blob},
              {"motivation", tested == nullptr ? Json(nullptr) : Json(tested->change)},
              {"sources", tested == nullptr ? Json::array() : Json(tested->evidence)},
              {"result", verdict ? Json(name_of(*verdict)) : Json(nullptr)},
              {"decision", version.abandoned      ? Json("rejected")
                           : version.is_correct() ? Json("selected")
                                                  : Json(nullptr)},
              {"abandoned", version.abandoned}};
    if (version.id.number == 0 && state.contract.forked_from)
      line["forked_from"] = encode(*state.contract.forked_from);
    lines += markdown::json_text(line) + "\n";
  }
  for (const auto& version : state.versions) lines += branch_lines(state, version);
  return {"ledgers/lineage.jsonl", std::move(lines)};
}

std::string timeline(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    const auto verdict = verdict_of(version);
    const auto* const comparison = against_v0(version);
    rows.push_back(
        {version.id.text(), std::string(name_of(version.stage)),
         verdict ? std::string(name_of(*verdict)) : "-",
         version.profile ? markdown::milliseconds(version.profile->timing.median.value) : "N/A",
         comparison == nullptr ? "-" : number(comparison->speedup),
         std::to_string(version.retries_used)});
  }
  return markdown::table(
      {"Version", "Stage", "Verdict", "Median (ms)", "Speedup vs v0 (own profile)", "Retries"},
      rows);
}

std::string roofline_history(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    if (!version.profile) continue;
    const auto& roofline = version.profile->roofline;
    rows.push_back({version.id.text(), std::string(name_of(version.profile->bound)),
                    roofline.binding, markdown::number_or(roofline.bandwidth_fraction, "N/A"),
                    markdown::number_or(roofline.compute_fraction, "N/A")});
  }
  return markdown::table(
      {"Version", "Bound", "Nearest roof", "Of bandwidth ceiling", "Of compute ceiling"}, rows);
}

std::string changes(const RunState& state) {
  std::string text;
  for (const auto& version : state.versions) {
    const auto* const tested = tested_hypothesis(state, version);
    if (tested != nullptr)
      text += fmt::format("- {}: [{}] {}\n", version.id.text(), one_line(tested->category),
                          one_line(tested->change));
  }
  return text.empty() ? "None.\n" : text;
}

std::string of_class(const RunState& state, MethodClass wanted) {
  std::string text;
  for (const auto& version : state.versions) {
    if (!version.ablation || state.masked.contains(version.id)) continue;
    for (const auto& one : version.ablation->attribution)
      if (one.verdict == wanted)
        text += fmt::format("- {} in {}: {} ns without it, {}\n", one.id, version.id.text(),
                            markdown::number_or(one.delta_ns, "N/A"), one_line(one.why));
  }
  return text.empty() ? "None recorded.\n" : text;
}

std::string tried(const RunState& state) {
  std::string text = changes(state);
  for (const auto& version : state.versions) {
    if (!version.methods || state.masked.contains(version.id)) continue;
    for (const auto& method : version.methods->methods)
      text += fmt::format("- {}: method {}\n", version.id.text(), method.id);
  }
  return text;
}

constexpr int kFrontierShown = 10;

std::string frontier(const RunState& state) {
  std::string text;
  int shown = 0;
  for (const auto& version : state.versions) {
    if (state.masked.contains(version.id)) continue;
    for (const auto& exploration : version.explorations)
      for (const auto& branch : exploration.branches) {
        if (branch.status != BranchStatus::frontier || shown++ >= kFrontierShown) continue;
        const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
        text +=
            fmt::format("- {}/{}: {}x {}{}\n", version.id.text(), branch.name,
                        compared ? number(compared->speedup) : "?", exploration.incumbent.text(),
                        branch.note ? ", " + one_line(*branch.note) : "");
      }
  }
  return text.empty() ? "None recorded.\n" : text;
}

}  // namespace

std::vector<Rendered> ledgers(const RunState& state, const std::string& time) {
  return {attempts(state, time), gains(state, time), lineage(state)};
}

Rendered summary(const RunState& state, const std::string& retrospective, const std::string& time) {
  return {"summary.md",
          fmt::format(
              "# Optimization Summary\n\n{}\n## Environment\n\n{}\n## Headline\n\n{}.\n\n"
              "## Roofline History\n\n{}\n## Iteration Timeline\n\n{}\n"
              "## Effective Methods (attribution-verified)\n\n{}\n"
              "## Ineffective Methods\n\n{}\n"
              "## Implementation-Failed Methods (SASS verification failed)\n\n{}\n"
              "## All Methods Tried\n\n{}\n"
              "## Frontier (unexplored branch candidates)\n\n{}\n## Retrospective\n\n{}",
              head(state, time),
              markdown::bullets({{"Device", device_text(state)},
                                 {"Sandbox", state.environment.sandbox},
                                 {"Ledger head", state.ledger_head}}),
              headline_text(state), roofline_history(state), timeline(state),
              of_class(state, MethodClass::effective), of_class(state, MethodClass::ineffective),
              of_class(state, MethodClass::implementation_failed), tried(state), frontier(state),
              retrospective.empty() ? "> none given\n" : markdown::quoted(retrospective))};
}

}  // namespace ratchet::render
