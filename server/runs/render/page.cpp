#include <fmt/format.h>

#include "server/core/figures.h"
#include "server/core/text.h"
#include "server/runs/render/plots.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/acceptance.h"
#include "server/runs/rules/hypothesis_outcome.h"
#include "server/runs/rules/progress.h"

namespace ratchet::render {
namespace {

// One style sheet for the light and dark schemes; the plots use its classes.
constexpr std::string_view kStyle = R"css(
:root { --ink:#1b1f24; --soft:#57606a; --paper:#ffffff; --card:#f6f8fa; --edge:#d0d7de;
        --good:#1a7f37; --bad:#cf222e; --plain:#0969da; --roof:#9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e6edf3; --soft:#9aa4af; --paper:#0d1117; --card:#161b22; --edge:#30363d;
          --good:#3fb950; --bad:#f85149; --plain:#58a6ff; --roof:#d29922; } }
* { box-sizing:border-box }
body { margin:0 auto; max-width:64rem; padding:1.5rem; background:var(--paper); color:var(--ink);
       font:16px/1.5 system-ui, sans-serif }
h1 { font-size:1.6rem; margin:0 } h2 { font-size:1.15rem; margin:2rem 0 .5rem }
p, li { max-width:48rem } .soft { color:var(--soft) } code { overflow-wrap:anywhere }
section { background:var(--card); border:1px solid var(--edge); border-radius:8px; padding:1rem;
          overflow-x:auto }
table { border-collapse:collapse; font-size:.9rem } th, td { text-align:left; padding:.25rem .75rem .25rem 0;
        border-bottom:1px solid var(--edge); vertical-align:top }
svg { width:100%; height:auto; font:12px system-ui, sans-serif } .label { fill:var(--ink) }
.grid { stroke:var(--edge) } .axis { stroke:var(--soft) } .whisker { stroke:var(--ink); stroke-width:2 }
.leader { stroke:var(--soft) }
.roof { stroke:var(--roof); stroke-width:2 } .trail { fill:none; stroke:var(--soft); stroke-dasharray:4 3 }
circle.good, rect.good { fill:var(--good) } circle.bad, rect.bad { fill:var(--bad) }
circle.plain, rect.plain { fill:var(--plain) }
.verdict-good { color:var(--good) } .verdict-bad { color:var(--bad) }
)css";

std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<table><thead><tr>";
  for (const auto& cell : header) text += fmt::format("<th>{}</th>", escaped(cell));
  text += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    text += "<tr>";
    for (const auto& cell : row) text += fmt::format("<td>{}</td>", escaped(cell));
    text += "</tr>";
  }
  return text + "</tbody></table>";
}

std::string section(std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<section>{}</section>\n", escaped(title), body);
}

std::string headline(const RunState& state) {
  const auto result = headline_of(state);
  if (!result) return "<p>No version is correct and timed.</p>";
  const auto promotion = promotion_of(state);
  return fmt::format(
      "<p>Best: <strong>{}</strong>, {}, <strong>{}</strong>.</p><p>Promotable: {}. {}.</p>",
      result->version.text(), time_text(result->median_ns), escaped(result->result()),
      promotion.promotable ? "yes" : "no", escaped(promotion.why));
}

std::string versions_table(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    if (state.masked.contains(version.id)) {
      rows.push_back({version.id.text(), "masked", "", "", "", ""});
      continue;
    }
    const auto verdict = verdict_of(version);
    const auto* const compared = against_v0(version);
    rows.push_back(
        {version.id.text(), verdict ? std::string(name_of(*verdict)) : "-",
         version.profile ? time_text(version.profile->timing.median.value) : "N/A",
         compared == nullptr ? "-" : speedup_text(version, *compared),
         version.profile ? std::string(name_of(version.profile->bound)) : "-",
         version.build ? version.build->candidate.build.binary_digest.substr(0, 12) : "-"});
  }
  return html_table(
      {"Version", "Verdict", "Median", "Speedup over v0, its own profile", "Bound", "Binary"},
      rows);
}

std::string hypotheses_table(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    const auto* const tested = tested_hypothesis(state, version);
    if (tested == nullptr || state.masked.contains(version.id)) continue;
    const auto verdict = verdict_of(version);
    const auto outcome = hypothesis_outcome(state, version);
    rows.push_back({version.id.text(), tested->category, tested->change, tested->accept_if,
                    tested->reject_if, verdict ? std::string(name_of(*verdict)) : "open",
                    fmt::format("{}: {}", name_of(outcome->decision), outcome->words)});
  }
  if (rows.empty()) return "";
  return html_table(
      {"Version", "Category", "Change", "Accept if", "Reject if", "Against its parent", "Decision"},
      rows);
}

std::string evidence_table(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    if (!version.evidence || state.masked.contains(version.id)) continue;
    for (const auto& one : version.evidence->selected)
      rows.push_back({version.id.text(), one.id, one.confidence, one.applies_because});
  }
  if (rows.empty()) return "";
  return html_table({"Version", "Page", "Confidence", "Why"}, rows);
}

std::string failed_table(const RunState& state) {
  const auto rows = failed_attempts(state);
  return rows.empty() ? "" : html_table(kFailedHeader, rows);
}

std::string acceptance_table(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& pair : review_pairs(state))
    rows.push_back({pair.task, pair.criterion, std::string(name_of(pair.state)), pair.detail});
  if (rows.empty()) return "";
  return html_table({"Task", "Criterion", "State", "Compared with"}, rows);
}

std::string integrity(const RunState& state) {
  std::string text = fmt::format(
      "<p>Every figure on this page comes from ledger rows 1 to {} of run <code>{}</code>, each "
      "sealed with the one before it; the seal of row {} begins <code>{}</code>. "
      "<code>ratchet audit {} --against {}</code> verifies chain, texts and renderings, and that "
      "the ledger was not put back to a state before this page.</p>"
      "<p>Contract SHA-256 <code>{}</code>. {}</p>",
      // The seal of the last row covers this page's digest, so the page cannot show it.
      state.sequence, escaped(state.run.text), state.sequence - 1,
      state.last_row.previous.substr(0, 16), escaped(state.run.text), state.ledger_head,
      state.contract.contract_digest, escaped(device_text(state)));
  const auto weak = weaknesses(state);
  text += fmt::format("<p>Claim: <strong>{}</strong>.</p>", weak.empty() ? "strong" : "weak");
  if (weak.empty()) return text;
  text += "<ul>";
  for (const auto& reason : weak)
    text +=
        fmt::format("<li><code>{}</code>: {}</li>", escaped(reason.code), escaped(reason.message));
  return text + "</ul>";
}

/// The plot of the best version, or of the newest version that has data for it.
std::string bars_of(const RunState& state, std::string (*draw)(const VersionState&)) {
  if (const auto best = best_version(state))
    if (auto plot = draw(*state.find(*best)); !plot.empty()) return plot;
  for (auto version = state.versions.rbegin(); version != state.versions.rend(); ++version) {
    if (state.masked.contains(version->id)) continue;
    if (auto plot = draw(*version); !plot.empty()) return plot;
  }
  return "";
}

}  // namespace

Rendered page(const RunState& state, const std::string& retrospective, const std::string& time) {
  const bool host = on_host(state);
  // What was not collected is said, except of what the device cannot have.
  const auto or_none = [&](const std::string& plot) {
    return plot.empty() && !host ? R"(<p class="soft">Not collected.</p>)" : plot;
  };
  const auto& contract = state.contract.contract;
  const std::string name = escaped(contract.kernel_name);
  std::string body = fmt::format("<h1>{} on {}</h1>\n<p class=\"soft\">Run {}, {}. {}</p>\n", name,
                                 escaped(contract.device_name), escaped(state.run.text),
                                 name_of(contract.implementation), escaped(time));
  body += section("Result", headline(state));
  body += section("Versions", plots::timeline(state) + versions_table(state));
  body += section("Under the roofs", or_none(plots::roofline(state)));
  if (!host) body += section("Where warps wait", or_none(bars_of(state, plots::stalls)));
  body += section("What each method is worth", bars_of(state, plots::attribution));
  body += section("Hypotheses", hypotheses_table(state));
  body += section("Failed attempts", failed_table(state));
  body += section("Evidence", evidence_table(state));
  body += section("Acceptance", acceptance_table(state));
  body += section("Integrity", integrity(state));
  if (!retrospective.empty())
    body += section("Retrospective of the agent (prose, not measured)",
                    fmt::format("<p>{}</p>", escaped(retrospective)));
  return {"report.html",
          fmt::format(
              "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} on {}: {}</title>\n"
              "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
              name, escaped(contract.device_name), escaped(state.run.text), kStyle, body)};
}

}  // namespace ratchet::render
