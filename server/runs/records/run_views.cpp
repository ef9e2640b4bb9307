#include "server/runs/records/run_views.h"

#include <fmt/format.h>

#include "server/core/figures.h"
#include "server/core/tool.h"

namespace ratchet {

std::string VersionRow::text() const {
  std::string text = version.text() + ": " + std::string(name_of(stage));
  const auto add = [&](const std::string& part) { text += ", " + part; };
  if (verdict) add(std::string(name_of(*verdict)));
  if (median_ns) {
    add(time_text(*median_ns));
    if (ci_low_ns && ci_high_ns)
      text += fmt::format(" ({} … {})", time_text(*ci_low_ns), time_text(*ci_high_ns));
  }
  if (speedup_vs_parent) add(three_digits(*speedup_vs_parent) + "x parent");
  if (speedup_vs_v0) add(three_digits(*speedup_vs_v0) + "x v0");
  if (judged_on) text += fmt::format(" (on {} values)", *judged_on);
  if (bound) add(std::string(name_of(*bound)) + "-bound");
  if (degraded) add("no hardware counters");
  if (retries_used > 0) add(fmt::format("{} failed checks", retries_used));
  return text;
}

std::string LabAccount::text() const {
  const auto of = [](double used, const std::optional<double>& limit, const std::string& unit) {
    return three_digits(used) + (limit ? " of " + three_digits(*limit) : "") + unit;
  };
  std::string text = lab + ": " + of(seconds, max_lab_seconds, " s");
  if (cost > 0 || max_cost) text += ", " + of(cost, max_cost, currency ? " " + *currency : "");
  return text;
}

std::string RunStatus::text(Json structured) const {
  structured.erase("versions");
  structured.erase("contract_digest");
  for (const char* list :
       {"open_acceptance", "integrity", "weaknesses", "stop", "methods", "frontier", "masked"})
    if (structured[list].empty()) structured.erase(list);
  if (labs) structured["labs"] = labs->text();
  std::string text = readable_text(structured, {"integrity", "headline", "next"});
  text += "versions, each by its own profile:\n";
  for (const auto& row : versions) text += "- " + row.text() + "\n";
  return text;
}

}  // namespace ratchet
