#include <fmt/format.h>

#include <algorithm>

#include "server/runs/records/axis_budget.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::one_line;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json scaled(const std::optional<double>& value, double factor) {
  return value ? Json(*value * factor) : Json(nullptr);
}

Json performance(const RunState& state, const VersionState& version) {
  if (!version.profile || version.profile->fault) return Json::object();
  const auto& profile = *version.profile;
  const auto& roofline = profile.roofline;
  const auto* const parent = version.parent ? state.find(*version.parent) : nullptr;
  const bool compared = parent != nullptr && parent->profile && !state.masked.contains(parent->id);
  const auto delta = [&](const std::optional<double>& own,
                         std::optional<double> Roofline::* member) -> Json {
    if (!compared || !own || !(parent->profile->roofline.*member)) return nullptr;
    return *own - *(parent->profile->roofline.*member);
  };
  Json previous{
      {"latency_delta", nullptr},
      {"tflops_delta", delta(roofline.achieved_flops_per_s, &Roofline::achieved_flops_per_s)},
      {"bandwidth_delta", delta(roofline.achieved_bytes_per_s, &Roofline::achieved_bytes_per_s)}};
  for (auto& [key, value] : previous.items())
    if (value.is_number()) value = value.get<double>() / (key == "tflops_delta" ? 1e12 : 1e9);
  if (compared)
    previous["latency_delta"] =
        (profile.timing.median.value - parent->profile->timing.median.value) / 1e3;
  return {{"latency_us", profile.timing.median.value / 1e3},
          {"latency_us_interval",
           {profile.timing.ci_low.value / 1e3, profile.timing.ci_high.value / 1e3}},
          {"tflops", scaled(roofline.achieved_flops_per_s, 1e-12)},
          {"bandwidth_gbps", scaled(roofline.achieved_bytes_per_s, 1e-9)},
          {"tflops_peak_utilization_pct", scaled(roofline.compute_fraction, 100)},
          {"bandwidth_peak_utilization_pct", scaled(roofline.bandwidth_fraction, 100)},
          {"peak_is", "the measured ceiling of this device"},
          {"comparison_with_previous", std::move(previous)}};
}

Json optimization(const RunState& state, const VersionState& version) {
  const auto* const tested = tested_hypothesis(state, version);
  if (tested == nullptr) return Json::object();
  std::string expected;
  for (const auto& one : tested->expected)
    markdown::append(expected,
                     fmt::format("{} {}{}{}", one.metric, one.direction, one.amount ? " " : "",
                                 one.amount.value_or("")),
                     "; ");
  return {{"action_category", tested->category},
          {"action_description", tested->change},
          {"expected_impact", expected},
          {"risks_and_rollback", tested->risk}};
}

Json profile_evidence(const VersionState& version) {
  if (!version.profile) return Json::object();
  Json chain = Json::array();
  for (const auto& finding : version.profile->findings)
    chain.push_back(finding.title + ": " + finding.evidence);
  return {{"tool_used", version.profile->engine},
          {"evidence_summary", version.profile->bound_evidence},
          {"bottleneck_type", name_of(version.profile->bound)},
          {"evidence_chain", std::move(chain)}};
}

Json correctness_of(const VersionState& version) {
  if (!version.correctness) return Json{{"rel_err", nullptr}, {"status", nullptr}};
  double largest = 0;
  for (const auto& one : version.correctness->cases) largest = std::max(largest, one.max_rel);
  const bool late = version.correctness->fault && version.correctness->fault->kind == "timeout";
  return {{"rel_err", largest},
          {"status", version.correctness->passed ? "PASS"
                     : late                      ? "TIMEOUT_FAIL"
                                                 : "FAIL"}};
}

Json targets(const RunState& state, const VersionState& version) {
  Json rows = Json::array();
  const auto add = [&](const char* metric, Json target, Json current, Json met) {
    rows.push_back({{"metric", metric},
                    {"target", std::move(target)},
                    {"current", std::move(current)},
                    {"met", std::move(met)}});
  };
  if (version.build && version.build->candidate.build.spill_bytes) {
    const auto spills = *version.build->candidate.build.spill_bytes;
    add("spill_bytes", 0, spills, spills == 0);
  }
  if (!version.profile) return rows;
  const double goal = state.contract.search.stop.roof_fraction;
  const auto fraction = roof_fraction(version.profile->roofline);
  add("fraction_of_measured_roof", goal, or_null(fraction),
      fraction ? Json(*fraction >= goal) : Json(nullptr));
  return rows;
}

Json search_log(const RunState& state, const VersionState& version) {
  Json rows = Json::array();
  for (const auto& logged : state.queries) {
    if (logged->version != version.id) continue;
    const auto& results = logged->fact.answer.results;
    rows.push_back({{"source", "kbs"},
                    {"query", logged->fact.query},
                    {"finding", results.empty() ? "0 results" : results.front().id},
                    {"actionability", logged->fact.purpose}});
  }
  return rows;
}

/// Failed attempts. Only the agent could fill in cause and lesson, so they stay empty.
Json pitfalls(const RunState& state, const VersionState& version) {
  Json rows = Json::array();
  for (const auto& attempt : state.attempts) {
    const bool bad = attempt.event == Event::build_failed || attempt.event == Event::check_failed ||
                     attempt.event == Event::profile_invalid;
    if (attempt.version != version.id || !bad) continue;
    rows.push_back({{"error_type", name_of(attempt.event)},
                    {"error_message", attempt.outcome},
                    {"root_cause", nullptr},
                    {"fix_applied", nullptr},
                    {"lesson", nullptr}});
  }
  return rows;
}

Json references(const VersionState& version) {
  Json rows = Json::array();
  if (version.evidence)
    for (const auto& document : version.evidence->selected)
      rows.push_back({{"source_type", document.confidence},
                      {"path_or_url", document.path},
                      {"description", document.applies_because}});
  return rows;
}

/// Decided by measurements: correct, not slower than the parent beyond the noise, no new spills.
Json quality_gate(const RunState& state, const VersionState& version) {
  std::string why;
  const auto add = [&](std::string_view reason) { markdown::append(why, reason, "; "); };
  if (!version.is_correct()) add("not correct");
  const auto verdict = verdict_of(version);
  if (verdict == Verdict::slower) add("slower than its parent beyond the noise");
  const auto spills = [](const VersionState* one) {
    return one != nullptr && one->build ? one->build->candidate.build.spill_bytes.value_or(0) : 0;
  };
  const auto* const parent = version.parent ? state.find(*version.parent) : nullptr;
  if (spills(parent) == 0 && spills(&version) > 0) add("new register spills");
  return {{"result", why.empty() ? "PASS" : "FAIL"},
          {"failure_reason", why.empty() ? Json(nullptr) : Json(why)}};
}

}  // namespace

Json memory_record(const RunState& state, const VersionState& version) {
  if (state.masked.contains(version.id)) return {{"version", version.id.text()}, {"masked", true}};
  return {{"version", version.id.text()},
          {"masked", false},
          {"timestamp", version.profiled_at.empty() ? version.built_at : version.profiled_at},
          {"performance", performance(state, version)},
          {"optimization", optimization(state, version)},
          {"profile_evidence", profile_evidence(version)},
          {"correctness", correctness_of(version)},
          {"isa_metric_progress", targets(state, version)},
          {"search_log", search_log(state, version)},
          {"pitfalls_and_fixes", pitfalls(state, version)},
          {"references", references(version)},
          {"quality_gate", quality_gate(state, version)},
          {"git_commit_hash", nullptr},
          {"source_sha256", version.build ? Json(version.build->source_blob) : Json(nullptr)}};
}

Rendered memory(const Subject& subject) {
  const auto& [state, version, time] = subject;
  Json record = memory_record(state, version);
  // A masked version does not even show its digests.
  if (!state.masked.contains(version.id)) record["provenance"] = provenance_json(subject);
  return {fmt::format("memory/{}.json", version.id.text()), markdown::json_text(record, 2) + "\n"};
}

std::string plan_path(VersionId version) {
  return fmt::format("plans/v{}_plan.md", version.number + 1);
}

Rendered plan(const Subject& subject) {
  const auto& [state, version, time] = subject;
  const auto& hypothesis = *version.hypothesis;
  std::vector<std::vector<std::string>> searches;
  for (const auto& logged : state.queries)
    if (logged->version == version.id)
      searches.push_back({"kbs", logged->fact.query,
                          logged->fact.answer.results.empty()
                              ? "0 results"
                              : logged->fact.answer.results.front().id,
                          logged->fact.purpose.empty() ? "-" : logged->fact.purpose});
  std::string expected;
  for (const auto& one : hypothesis.expected)
    expected += fmt::format("- `{}` {} {}\n", one.metric, one.direction, one.amount.value_or(""));
  return {
      plan_path(version.id),
      fmt::format("# Plan of v{}\n\n{}\n## Input Evidence\n\n{}\n{}\n## Search Log\n\n{}\n"
                  "## This Iteration's Optimization Action\n\n[{}] {}\n\n{}\n\n"
                  "## Expected Impact\n\n{}\n## Risks and Rollback\n\n{}\n\nAccept if: {}\n\n"
                  "Reject if: {}\n",
                  version.id.number + 1, markdown::bullets(provenance(subject)),
                  markdown::bullets({{"Bottleneck", std::string(name_of(version.profile->bound))},
                                     {"Evidence", version.profile->bound_evidence}}),
                  one_line(version.evidence->decision_link),
                  markdown::table({"Source", "Query", "Finding", "Actionability"}, searches),
                  one_line(hypothesis.category), one_line(hypothesis.change),
                  one_line(hypothesis.rationale), expected, one_line(hypothesis.risk),
                  one_line(hypothesis.accept_if), one_line(hypothesis.reject_if))};
}

Rendered research_digest(const RunState& state, const std::string& time) {
  std::string text;
  for (const auto& version : state.versions) {
    if (!version.evidence || state.masked.contains(version.id)) continue;
    const auto& evidence = *version.evidence;
    text += fmt::format("\n## {}\n\n", version.id.text());
    if (version.profile)
      text += fmt::format("Suspected bottleneck: {}. {}\n\n", name_of(version.profile->bound),
                          one_line(version.profile->bound_evidence));
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : evidence.selected)
      rows.push_back({one.id, one.path, one.confidence, one.content_digest.substr(0, 12),
                      one.applies_because});
    text += markdown::table({"Source", "Path", "Confidence", "SHA-256 (start)", "Why"}, rows);
    for (const auto& one : evidence.rejected)
      text += fmt::format("- rejected: {}: {}\n", one_line(one.id), one_line(one.reason));
    text += fmt::format("\nPriority: {}\n", one_line(evidence.decision_link));
  }
  return {"ledgers/research-digest.md",
          fmt::format("# Research Digest\n\n{}{}",
                      markdown::bullets({{"Run", state.run.text},
                                         {"Device", device_text(state)},
                                         {"Tools", tools_text(state, state.versions.front())},
                                         {"Time", time}}),
                      text)};
}

}  // namespace ratchet::render
