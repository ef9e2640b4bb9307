#include <fmt/format.h>

#include <algorithm>

#include "server/runs/records/method_registry.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::one_line;
using markdown::table;

Rendered branch_page(const Subject& subject, const BranchesFact& fact, const BranchResult& branch) {
  const auto& build = branch.candidate.build;
  markdown::Fields fields{{"Branch", branch.name},
                          {"Status", std::string(name_of(branch.status))},
                          {"Note", branch.note.value_or("-")},
                          {"Incumbent", fact.incumbent.text()},
                          {"Lines changed from the incumbent", std::to_string(branch.diff_lines)},
                          {"Built", build.ok ? "yes" : "no"},
                          {"Correct", !branch.correctness          ? "not checked"
                                      : branch.correctness->passed ? "yes"
                                                                   : "no"}};
  if (branch.screening) fields.emplace_back("Screened, speedup", speedup_text(*branch.screening));
  if (branch.confirmation)
    fields.emplace_back("Confirmed, speedup", speedup_text(*branch.confirmation));
  if (branch.timing)
    fields.emplace_back("Median (ms)", markdown::milliseconds(branch.timing->median.value));
  if (branch.lab) fields.emplace_back("Checked and screened on lab", *branch.lab);
  fields.emplace_back("Source SHA-256", branch.source_blob);
  fields.emplace_back("Binary SHA-256", build.binary_digest);
  fields.emplace_back("Run", subject.state.run.text);
  fields.emplace_back("Version", subject.version.id.text());
  fields.emplace_back("Device", device_text(subject.state));
  fields.emplace_back("Time", subject.time);
  return {fmt::format("{}/branches/{}/branch.md", subject.version.id.text(), branch.name),
          fmt::format("# Branch {}\n\n{}\n## Why it does not work\n\n{}", branch.name,
                      markdown::field_table(fields), markdown::reasons(branch.reasons))};
}

std::string gaps_table(const Profile& profile, const SearchPlan& search) {
  const auto gaps = gaps_of(profile);
  const auto budget = budget_of(profile, search.methods, search.axis_cap);
  std::vector<std::vector<std::string>> rows;
  for (const auto axis : {Axis::compute, Axis::memory, Axis::latency})
    rows.push_back({std::string(name_of(axis)), markdown::percent(gaps.of(axis)),
                    std::to_string(budget.of(axis))});
  return table({"Axis", "Gap (%)", "Budget"}, rows) +
         fmt::format("\nNear peak: {}.\n", near_peak(profile) ? "yes" : "no");
}

std::string chosen_methods(const VersionState& version) {
  if (!version.methods || version.methods->methods.empty()) return "None were proposed.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& method : version.methods->methods) {
    std::string readings;
    for (const auto& reading : method.readings)
      markdown::append(readings, fmt::format("`{}` = {}", reading.metric, number(reading.value)),
                       "; ");
    rows.push_back({method.id, std::to_string(method.priority),
                    markdown::number_or(method.strength, "not measured"),
                    readings.empty() ? "-" : readings});
  }
  return table({"Method", "Priority", "Strength", "Readings"}, rows);
}

std::string excluded_methods(const VersionState& version) {
  std::string text;
  if (version.methods)
    for (const auto& method : version.methods->methods)
      for (const auto& skipped : method.skipped_higher)
        text +=
            fmt::format("- {} before {}: {}{}{}\n", skipped.id, method.id, name_of(skipped.reason),
                        skipped.why.empty() ? "" : ", ", one_line(skipped.why));
  return text.empty() ? "None.\n" : text;
}

std::string orthogonality(const VersionState& version) {
  if (!version.methods) return "Not checked: no methods were proposed.\n";
  return "Checked before anything was built: no coupled pair, no conflicting pair, "
         "none over its axis' budget.\n";
}

std::string branch_table(const VersionState& version) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& exploration : version.explorations)
    for (const auto& branch : exploration.branches) {
      const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
      rows.push_back({branch.name, std::string(name_of(branch.status)),
                      compared ? speedup_text(*compared) : "-", std::to_string(branch.diff_lines),
                      branch.note.value_or("-")});
    }
  if (rows.empty()) return "None.\n";
  return table({"Branch", "Status", "Speedup over the incumbent", "Diff lines", "Note"}, rows) +
         fmt::format("\n{}\n", one_line(version.explorations.back().decision));
}

std::string attribution_table(const VersionState& version) {
  if (!version.ablation) return "Not ablated.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : version.ablation->attribution)
    rows.push_back(
        {one.id, markdown::number_or(one.delta_ns, "N/A"),
         one.delta_low_ns
             ? fmt::format("{} … {}", number(*one.delta_low_ns), number(*one.delta_high_ns))
             : "N/A",
         markdown::number_or(one.alone_ns, "N/A"), std::string(name_of(one.verdict)), one.why});
  return table(
             {"Method", "Without it − with it (ns)", "95 % interval", "Alone (ns)", "Class", "Why"},
             rows) +
         fmt::format("\nInteraction (ns): {}\n",
                     markdown::number_or(version.ablation->interaction_ns, "N/A"));
}

std::string findings_text(const Profile& profile) {
  std::string text =
      fmt::format("Bound: {}. {}\n", name_of(profile.bound), one_line(profile.bound_evidence));
  for (const auto& finding : profile.findings)
    text += fmt::format("- {} ({}): {}\n", finding.id, one_line(finding.title),
                        one_line(finding.evidence));
  return text;
}

}  // namespace

Rendered methods(const Subject& subject) {
  Json json = encode(*subject.version.methods);
  json["iter"] = subject.version.id.number;
  for (auto& method : json["methods"]) {
    const auto* const known = find_method(method["id"].get<std::string>());
    if (known == nullptr) continue;
    method["name"] = known->name;
    method["description"] = known->title;
    method["page"] = known->page;
    method["ablation_macro"] = ablation_macro(*known);
  }
  json["provenance"] = provenance_json(subject);
  return {subject.version.id.text() + "/methods.json", markdown::json_text(json, 2) + "\n"};
}

std::vector<Rendered> branches(const Subject& subject) {
  const auto& fact = subject.version.explorations.back();
  Json json = encode(fact);
  json["provenance"] = provenance_json(subject);
  std::vector<Rendered> files{
      {subject.version.id.text() + "/branches/branches.json", markdown::json_text(json, 2) + "\n"}};
  for (const auto& branch : fact.branches) files.push_back(branch_page(subject, fact, branch));
  return files;
}

std::vector<Rendered> attribution(const Subject& subject) {
  const auto& fact = *subject.version.ablation;
  const std::string folder = subject.version.id.text();
  Json json{{"attribution", encode(fact.attribution)},
            {"whole", encode(fact.whole)},
            {"candidate_digest", fact.candidate_digest},
            {"interaction_ns", fact.interaction_ns ? Json(*fact.interaction_ns) : Json(nullptr)},
            {"provenance", provenance_json(subject)}};
  std::vector<Rendered> files{{folder + "/attribution.json", markdown::json_text(json, 2) + "\n"}};
  for (const auto& build : fact.builds) {
    if (build.without.size() != 1) continue;
    std::string name = build.without.front();
    std::ranges::replace(name, '.', '_');
    Json one = encode(build);
    one["provenance"] = provenance_json(subject);
    files.push_back({fmt::format("{}/ablations/{}/ablation.json", folder, name),
                     markdown::json_text(one, 2) + "\n"});
  }
  files.push_back(analysis(subject));
  return files;
}

Rendered analysis(const Subject& subject) {
  const auto& [state, version, time] = subject;
  const auto& profile = *version.profile;
  return {version.id.text() + "/analysis.md",
          fmt::format("# Analysis of {}\n\n{}\n## Roofline\n\n{}\n## Diagnosis\n\n{}\n"
                      "## Chosen methods\n\n{}\n## Orthogonality check\n\n{}\n"
                      "## Excluded candidates\n\n{}\n## Branch variants\n\n{}\n## Result\n\n{}",
                      version.id.text(), markdown::bullets(provenance(subject)),
                      gaps_table(profile, state.contract.search), findings_text(profile),
                      chosen_methods(version), orthogonality(version), excluded_methods(version),
                      branch_table(version), attribution_table(version))};
}

}  // namespace ratchet::render
