#include "server/runs/rules/prose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "server/core/text.h"
#include "server/runs/records/markdown.h"

namespace ratchet {
namespace {

/// Reasons without a path, which the caller sets.
class Problems {
 public:
  void add(const char* code, std::string message) {
    list_.push_back({code, std::move(message), std::nullopt});
  }
  [[nodiscard]] std::vector<Reason> take() { return std::move(list_); }

 private:
  std::vector<Reason> list_;
};

bool is_blank(const std::string& text) {
  return markdown::one_line(text).empty();
}

/// `says` is what belongs there, where the field's name does not tell.
void need_text(Problems& problems, const std::string& field, const std::string& text,
               std::string_view says) {
  if (is_blank(text))
    problems.add("text_missing",
                 fmt::format("{}: must not be empty{}{}", field, says.empty() ? "" : "; ", says));
}

/// Whether the text cites a figure by hand, as in "peak: 4.8 TB/s <- page.md:12".
bool cites_by_hand(const std::string& text) {
  constexpr std::string_view kArrow = "<- ";
  for (auto at = text.find(kArrow); at != std::string::npos; at = text.find(kArrow, at + 1)) {
    const auto begin = at + kArrow.size();
    const auto source = text.substr(begin, text.find_first_of(" \t\r\n", begin) - begin);
    if (source.find(".md") != std::string::npos || source.find(':') != std::string::npos)
      return true;
  }
  return false;
}

/// Prose that is not empty and leaves the citing of figures to the server.
void need_prose(Problems& problems, const std::string& field, const std::string& text,
                std::string_view says = "") {
  need_text(problems, field, text, says);
  if (cites_by_hand(text))
    problems.add("spec_by_hand",
                 fmt::format("{}: do not type a figure with its source; name product and metric in "
                             "specs of write_kbs_evidence, and the server cites the line",
                             field));
}

bool has_metric(const Profile& profile, const std::string& metric) {
  return std::ranges::any_of(all_metrics(profile),
                             [&](const MetricFact& fact) { return fact.metric == metric; });
}

std::string known_metrics(const VersionState& version) {
  std::set<std::string> names;
  for (const auto& fact : all_metrics(*version.profile)) names.insert(fact.metric);
  std::string text;
  std::size_t shown = 0;
  for (const auto& name : names) {
    if (++shown > 20)
      return text + fmt::format(", … ({}/ncu_details.md in the run's output_dir lists all {})",
                                version.id.text(), names.size());
    markdown::append(text, name);
  }
  return text;
}

void need_metric(Problems& problems, const VersionState& version, const std::string& field,
                 const std::string& metric) {
  if (!version.profile || has_metric(*version.profile, metric)) return;
  problems.add("unknown_metric",
               fmt::format("{}: \"{}\" is not a metric of the profile of {}; it has {}", field,
                           metric, version.id.text(), known_metrics(version)));
}

/// The hit with this id in a logged query of the run; null if there is none.
const QueryHit* logged_hit(const RunState& state, const std::string& query_id,
                           const std::string& id) {
  for (const auto& logged : state.queries) {
    if (logged->fact.answer.query_id != query_id) continue;
    for (const auto& hit : logged->fact.answer.results)
      if (hit.id == id) return &hit;
  }
  return nullptr;
}

bool query_known(const RunState& state, const std::string& query_id) {
  return std::ranges::any_of(
      state.queries, [&](const auto& logged) { return logged->fact.answer.query_id == query_id; });
}

void need_queries(Problems& problems, const RunState& state, const VersionState& version) {
  if (!was_queried(state, version, "kernel"))
    problems.add("no_kernel_query",
                 fmt::format("{} has no logged query with purpose \"kernel\": call query_kbs with "
                             "run and purpose: kernel",
                             version.id.text()));
  if (!was_queried(state, version, "bottleneck"))
    problems.add(
        "no_bottleneck_query",
        fmt::format("{} has no logged query with purpose \"bottleneck\" since its profile: "
                    "call query_kbs with run and purpose: bottleneck",
                    version.id.text()));
}

std::string joined(const std::vector<Reason>& problems) {
  std::string text;
  for (const auto& problem : problems)
    markdown::append(text, fmt::format("{}: {}", problem.code, problem.message), "\n");
  return text;
}

bool is_one_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

/// The number of lines that begin like list items; two items are two changes.
int list_items(const std::string& text) {
  int items = 0;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (at_start && c != ' ' && c != '\t') {
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      const bool bullet = (c == '-' || c == '*' || c == '+') && next == ' ';
      const bool numbered =
          std::isdigit(static_cast<unsigned char>(c)) != 0 && (next == '.' || next == ')');
      if (bullet || numbered) ++items;
      at_start = false;
    }
    if (c == '\n') at_start = true;
  }
  return items;
}

/// Lower-case letters and digits, with single blanks between words.
std::string words_of(const std::string& text) {
  std::string words;
  for (const char raw : text) {
    const auto c = static_cast<unsigned char>(raw);
    if (std::isalnum(c) != 0)
      words += lower(raw);
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

/// Refuses a change that an earlier version proposed for the same kernel text.
void refuse_duplicate(Problems& problems, const RunState& state, const VersionState& version,
                      const Hypothesis& hypothesis) {
  for (const auto& other : state.versions) {
    if (other.id >= version.id || !other.hypothesis || !other.build || !version.build) continue;
    if (other.build->stripped_digest != version.build->stripped_digest) continue;
    if (words_of(other.hypothesis->change) != words_of(hypothesis.change)) continue;
    problems.add(
        "duplicate_plan",
        fmt::format("change: {} already proposed this change for the same kernel; propose another "
                    "one",
                    state.masked.contains(other.id) ? "an earlier plan" : other.id.text()));
  }
}

void check_expected(Problems& problems, const VersionState& version, const Hypothesis& hypothesis) {
  constexpr std::array<std::string_view, 3> kDirections{"up", "down", "same"};
  if (hypothesis.expected.empty())
    problems.add("expected_missing", "expected: must name at least one metric");
  for (std::size_t i = 0; i < hypothesis.expected.size(); ++i) {
    const auto& one = hypothesis.expected[i];
    need_metric(problems, version, fmt::format("expected[{}].metric", i), one.metric);
    if (std::ranges::find(kDirections, one.direction) == kDirections.end())
      problems.add("bad_direction",
                   fmt::format("expected[{}].direction: must be up, down or same, got \"{}\"", i,
                               one.direction));
  }
}

}  // namespace

bool was_queried(const RunState& state, const VersionState& version, std::string_view purpose) {
  const auto after = purpose == "bottleneck" ? version.profile_sequence : 0;
  return std::ranges::any_of(state.queries, [&](const auto& logged) {
    return logged->version == version.id && logged->fact.purpose == purpose &&
           logged->sequence > after;
  });
}

std::vector<Reason> evidence_problems(const RunState& state, const VersionState& version,
                                      const EvidenceRequest& request) {
  Problems problems;
  if (request.facts.empty()) problems.add("facts_missing", "facts: must name at least one metric");
  for (std::size_t i = 0; i < request.facts.size(); ++i)
    need_metric(problems, version, fmt::format("facts[{}]", i), request.facts[i]);
  if (request.selected.empty())
    problems.add("selected_missing",
                 "selected: must cite at least one page that a logged query returned");
  for (std::size_t i = 0; i < request.selected.size(); ++i) {
    const auto& one = request.selected[i];
    if (!query_known(state, one.query_id))
      problems.add(
          "query_not_logged",
          fmt::format("selected[{}].query_id: \"{}\" is not the id of a query of this run: "
                      "call query_kbs with run and pass the query_id of its answer",
                      i, one.query_id));
    else if (logged_hit(state, one.query_id, one.id) == nullptr)
      problems.add("document_not_returned",
                   fmt::format("selected[{}].id: query {} returned no page \"{}\"; only pages that "
                               "it returned can be cited",
                               i, one.query_id, one.id));
    need_prose(problems, fmt::format("selected[{}].applies_because", i), one.applies_because);
  }
  for (std::size_t i = 0; i < request.rejected.size(); ++i)
    need_prose(problems, fmt::format("rejected[{}].reason", i), request.rejected[i].reason);
  need_prose(problems, "decision_link", request.decision_link,
             "say in a sentence which symptom of the profile points to which pattern, and what "
             "change follows");
  need_queries(problems, state, version);
  return problems.take();
}

std::vector<Reason> hypothesis_problems(const RunState& state, const VersionState& version,
                                        const Hypothesis& hypothesis) {
  Problems problems;
  if (!is_one_word(hypothesis.category))
    problems.add("bad_category",
                 fmt::format("category: must be one word such as memory, got \"{}\"",
                             markdown::one_line(hypothesis.category)));
  need_prose(problems, "change", hypothesis.change);
  if (list_items(hypothesis.change) > 1)
    problems.add("several_changes",
                 "change: it lists several changes, but a version tries exactly one");
  need_prose(problems, "rationale", hypothesis.rationale);
  check_expected(problems, version, hypothesis);
  need_prose(problems, "risk", hypothesis.risk);
  if (hypothesis.evidence.empty())
    problems.add("evidence_missing",
                 "evidence: must name at least one page that write_kbs_evidence selected");
  for (std::size_t i = 0; i < hypothesis.evidence.size(); ++i) {
    const auto& id = hypothesis.evidence[i];
    const bool selected =
        version.evidence && std::ranges::find(version.evidence->selected, id, &CitedDocument::id) !=
                                version.evidence->selected.end();
    if (!selected)
      problems.add(
          "evidence_not_selected",
          fmt::format(
              "evidence[{}]: page \"{}\" is not among those that write_kbs_evidence selected", i,
              id));
  }
  need_prose(problems, "accept_if", hypothesis.accept_if, "for example speedup >= 1.2");
  need_prose(problems, "reject_if", hypothesis.reject_if, "for example speedup < 1.02");
  refuse_duplicate(problems, state, version, hypothesis);
  return problems.take();
}

std::vector<std::string> resolve_labels(const RunState& state, const EvidenceFact& fact) {
  std::vector<std::string> labels;
  for (const auto& one : fact.selected) {
    const auto* const hit = logged_hit(state, one.query_id, one.id);
    labels.push_back(hit == nullptr ? "" : hit->confidence);
  }
  return labels;
}

EvidenceRequest request_of(const EvidenceFact& fact) {
  EvidenceRequest request;
  for (const auto& one : fact.facts) request.facts.push_back(one.metric);
  for (const auto& one : fact.selected)
    request.selected.push_back({one.id, one.query_id, one.applies_because});
  request.rejected = fact.rejected;
  request.decision_link = fact.decision_link;
  return request;
}

Result<EvidenceFact> resolve_evidence(const RunState& state, const EvidenceRequest& request) {
  const auto& version = state.open();
  const auto problems = evidence_problems(state, version, request);
  if (!problems.empty())
    return invalid_argument(
        joined(problems), "Correct these and call write_kbs_evidence again; nothing was written.");
  EvidenceFact fact;
  const auto metrics = all_metrics(*version.profile);
  for (const auto& name : request.facts)
    for (const auto& metric : metrics)
      if (metric.metric == name) fact.facts.push_back(metric);
  for (const auto& one : request.selected) {
    const auto& hit = *logged_hit(state, one.query_id, one.id);
    fact.selected.push_back(
        {one.id, one.query_id, one.applies_because, hit.path, hit.confidence, hit.content_digest});
  }
  fact.rejected = request.rejected;
  for (const auto& one : request.specs)
    fact.specs.insert(fact.specs.end(), one.lines.begin(), one.lines.end());
  fact.decision_link = request.decision_link;
  return fact;
}

Status check_hypothesis(const RunState& state, const Hypothesis& hypothesis) {
  const auto problems = hypothesis_problems(state, state.open(), hypothesis);
  if (problems.empty()) return {};
  return invalid_argument(joined(problems),
                          "Correct these and call write_hypothesis again; nothing was written.");
}

}  // namespace ratchet
