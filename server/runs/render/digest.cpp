// The digest of one profile, with the headings of ncu-report's digests.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::table;

constexpr std::size_t kEvidenceRows = 24;

std::string headline(const Profile& profile) {
  const auto& evidence = profile.bound_evidence;
  const auto part = [&](std::string_view mark) -> std::string {
    const auto at = evidence.find(mark);
    if (at == std::string::npos) return "not measured";
    const auto from = at + mark.size();
    const auto end = std::min(evidence.find(';', from), evidence.size());
    return evidence.substr(from, end - from);
  };
  return markdown::field_table(
      {{"Bottleneck class", std::string(name_of(profile.bound))},
       {"Dominant stall", part("dominant stall ")},
       {"Confidence", part("confidence ")},
       {"Validity", profile.reasons.empty() && !profile.fault
                        ? "counters and times are of the binary named above"
                        : "invalid: see ncu_summary.md"},
       {"Degraded", profile.degraded ? profile.degraded_reason.value_or("no counters") : "no"}});
}

std::string evidence(const Profile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : profile.metrics)
    rows.push_back({"`" + name + "`", number(value)});
  if (const auto* const kernel = main_kernel(profile))
    for (const auto& [name, value] : kernel->metrics) {
      if (rows.size() >= kEvidenceRows) break;
      if (name.find("throughput") != std::string::npos || name.starts_with("launch__") ||
          name.find("warps_active") != std::string::npos || name.ends_with("issue_active.ratio"))
        rows.push_back({"`" + name + "`", number(value)});
    }
  return table({"Metric", "Value"}, rows) + "\nAll of them: ncu_summary.md.\n";
}

std::string chain(const Profile& profile) {
  std::string text = fmt::format("1. {}: {}\n", name_of(profile.bound),
                                 markdown::one_line(profile.bound_evidence));
  int step = 2;
  for (const auto& finding : profile.findings)
    text += fmt::format("{}. {} ({} confidence): {}\n", step++, finding.title,
                        name_of(finding.confidence), markdown::one_line(finding.evidence));
  return text;
}

std::string edits(const Profile& profile) {
  if (profile.findings.empty()) return "None: no rule matched these metrics.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& finding : profile.findings) {
    if (rows.size() == 5) break;
    rows.push_back({std::to_string(rows.size() + 1), finding.title,
                    fmt::format("{}", fmt::join(finding.methods, ", ")),
                    number(finding.headroom * 100), std::string(name_of(finding.confidence)),
                    finding.query});
  }
  return table({"#", "Because", "Methods", "Headroom (%)", "Confidence", "Query"}, rows) +
         "\nThe first is the next edit to try; headroom is its maximum gain.\n";
}

std::vector<std::pair<std::string, double>> by_share(const std::map<std::string, double>& shares) {
  std::vector<std::pair<std::string, double>> sorted(shares.begin(), shares.end());
  std::ranges::stable_sort(sorted, std::greater{}, &std::pair<std::string, double>::second);
  return sorted;
}

std::string code(const Subject& subject) {
  const auto& build = subject.version.build->candidate.build;
  const auto text = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("N/A");
  };
  return markdown::field_table({{"Registers", text(build.registers)},
                                {"Static shared memory (bytes)", text(build.shared_bytes)},
                                {"Spills (bytes)", text(build.spill_bytes)},
                                {"Stack (bytes)", text(build.stack_bytes)}}) +
         "\nInstructions: disassemble. Methods that show in them: check_sass.\n";
}

std::string hotspots(const Profile& profile) {
  if (!profile.hotspots) return "Not sampled: profile_kernel with metrics stalls does.\n";
  const auto& spots = *profile.hotspots;
  std::string remark = spots.degraded_reason
                           ? "Degraded: " + markdown::one_line(*spots.degraded_reason) + ".\n"
                           : "";
  if (spots.places.empty()) return remark;
  std::vector<std::vector<std::string>> rows;
  for (const auto& place : spots.places) {
    std::string stalls;
    for (const auto& [reason, share] : by_share(place.stalls))
      markdown::append(stalls, fmt::format("{} {:.0f} %", reason, share * 100));
    rows.push_back({place.kernel, place.line ? std::to_string(*place.line) : "N/A",
                    number(place.share * 100), stalls,
                    fmt::format("`{:04x} {}`", place.offset, place.instruction)});
  }
  return remark +
         table({"Kernel", "Line", "Samples (%)", "Warps there", "Hottest instruction"}, rows) +
         fmt::format("\n{} samples, one per {} cycles and multiprocessor; {} dropped.\n",
                     spots.samples, number(spots.period_cycles), spots.dropped);
}

}  // namespace

Rendered digest(const Subject& subject) {
  const auto& profile = *subject.version.profile;
  return {
      subject.version.id.text() + "/digest.md",
      fmt::format("# Profile Digest\n\n## Environment\n\n{}\n## Headline\n\n{}\n## Evidence\n\n{}\n"
                  "## Source Hotspots\n\n{}\n## PTX/SASS Analysis\n\n{}\n"
                  "## Inference Chain\n\n{}\n## Next Concrete Edit\n\n{}",
                  markdown::field_table(provenance(subject)), headline(profile), evidence(profile),
                  hotspots(profile), code(subject), chain(profile), edits(profile))};
}

}  // namespace ratchet::render
