#include <fmt/format.h>

#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::one_line;
using markdown::table;

std::string ncu_facts(const Subject& subject) {
  const auto& profile = *subject.version.profile;
  const auto& timing = profile.timing;
  markdown::Fields fields{
      {"Runtime",
       fmt::format("{} ms median ({} … {} ms)", markdown::milliseconds(timing.median.value),
                   markdown::milliseconds(timing.ci_low.value),
                   markdown::milliseconds(timing.ci_high.value))},
      {"Bottleneck", fmt::format("{}: {}", name_of(profile.bound), profile.bound_evidence)}};
  std::string symptoms;
  for (const auto& finding : profile.findings) markdown::append(symptoms, finding.title, "; ");
  fields.emplace_back("Key symptoms", symptoms.empty() ? "none found" : symptoms);
  std::string metrics;
  for (const auto& fact : subject.version.evidence->facts)
    markdown::append(metrics, fmt::format("`{}` = {}{}", fact.metric, number(fact.value),
                                          fact.kernel.empty() ? "" : " in " + fact.kernel));
  fields.emplace_back("Metrics driving next decision", metrics);
  return markdown::bullets(fields);
}

/// The queries of this version, and older ones that the evidence cites.
std::string queries(const Subject& subject) {
  const auto cited = [&](const std::string& id) {
    for (const auto& document : subject.version.evidence->selected)
      if (document.query_id == id) return true;
    return false;
  };
  std::vector<std::vector<std::string>> rows;
  for (const auto& logged : subject.state.queries) {
    const auto& answer = logged->fact.answer;
    if (logged->version != subject.version.id && !cited(answer.query_id)) continue;
    rows.push_back({std::to_string(rows.size() + 1), logged->fact.query,
                    logged->fact.purpose.empty() ? "-" : logged->fact.purpose,
                    fmt::format("{} of {} results{} ({})", answer.results.size(), answer.total,
                                answer.weak ? ", weak" : "", answer.query_id)});
  }
  return table({"#", "Query", "Reason", "Result"}, rows);
}

std::string selected(const EvidenceFact& evidence) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& document : evidence.selected)
    rows.push_back({document.id, document.path, document.confidence, document.applies_because});
  return table({"Doc ID", "Path", "Confidence", "Applies Because"}, rows);
}

/// Hardware figures with their citations.
std::string specs(const EvidenceFact& evidence) {
  std::string text;
  for (const auto& citation : evidence.specs) text += fmt::format("- {}\n", one_line(citation));
  return text.empty() ? "" : "\nSpecifications:\n\n" + text;
}

std::string rejected(const EvidenceFact& evidence) {
  if (evidence.rejected.empty()) return "None.\n";
  std::string text;
  for (const auto& one : evidence.rejected)
    text += fmt::format("- {}: {}\n", one_line(one.id), one_line(one.reason));
  return text;
}

std::string expected(const Hypothesis& hypothesis, bool same) {
  std::string text;
  for (const auto& one : hypothesis.expected) {
    if ((one.direction == "same") != same) continue;
    markdown::append(text, fmt::format("{} {}{}", one.metric, one.direction,
                                       one.amount ? " (" + one_line(*one.amount) + ")" : ""));
  }
  return text.empty() ? "-" : text;
}

std::string symptoms(const Profile& profile) {
  if (profile.findings.empty()) return one_line(profile.bound_evidence);
  const auto& first = profile.findings.front();
  return fmt::format("{}: {}", first.title, first.evidence);
}

}  // namespace

Rendered evidence(const Subject& subject) {
  const auto& evidence = *subject.version.evidence;
  return {subject.version.id.text() + "/kbs_evidence.md",
          fmt::format("# KBS Evidence - {}\n\n{}\n## NCU Facts\n\n{}\n## Queries\n\n{}\n"
                      "## Selected Evidence\n\n{}{}\n## Rejected / Limits\n\n{}\n"
                      "## Decision Link\n\n- {}\n",
                      subject.version.id.text(), markdown::bullets(provenance(subject)),
                      ncu_facts(subject), queries(subject), selected(evidence), specs(evidence),
                      rejected(evidence), one_line(evidence.decision_link))};
}

Rendered hypothesis(const Subject& subject) {
  const auto& [state, version, time] = subject;
  const auto& one = *version.hypothesis;
  const auto& profile = *version.profile;
  markdown::Fields head{{"Source", version.id.text()},
                        {"Target", VersionId{version.id.number + 1}.text()}};
  for (auto& field : provenance(subject)) head.push_back(std::move(field));
  std::string metrics;
  for (const auto& fact : version.evidence->facts)
    markdown::append(metrics, fmt::format("{} = {}", fact.metric, number(fact.value)));
  const std::string current = markdown::bullets(
      {{"Correctness", "passed"},
       {"Runtime",
        fmt::format("{} ms median", markdown::milliseconds(profile.timing.median.value))},
       {"Bottleneck", std::string(name_of(profile.bound))},
       {"Key metrics", metrics},
       {"NCU symptom to explain", symptoms(profile)}});
  std::string documents;
  for (const auto& id : one.evidence) markdown::append(documents, one_line(id));
  const std::string folder = version.id.text();
  std::string text =
      fmt::format("Version:\n{}\nCurrent evidence:\n{}\n", markdown::bullets(head), current);
  text += fmt::format("Decision link:\n{}\n",
                      markdown::bullets({{"NCU symptom → KBS pattern → proposed change",
                                          version.evidence->decision_link}}));
  text += fmt::format("Single change:\n{}\n",
                      markdown::bullets({{"Change", one.change}, {"Category", one.category}}));
  text += fmt::format("Rationale:\n- {}\n\n", one_line(one.rationale));
  text += fmt::format("Expected metric movement:\n{}\n",
                      markdown::bullets({{"Improve", expected(one, false)},
                                         {"Watch for regressions", expected(one, true)}}));
  text += fmt::format("Risk:\n- {}\n\n", one_line(one.risk));
  text += fmt::format(
      "Evidence used:\n{}\n",
      markdown::bullets(
          {{"NCU artifacts", fmt::format("{0}/ncu_summary.md, {0}/ncu_details.md", folder)},
           {"KBS", documents}}));
  text +=
      fmt::format("Decision rule:\n{}",
                  markdown::bullets({{"Accept if", one.accept_if}, {"Reject if", one.reject_if}}));
  return {folder + "/hypothesis.txt", std::move(text)};
}

}  // namespace ratchet::render
