#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "server/facts/suite_baselines.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/hypothesis_outcome.h"
#include "server/runs/rules/progress.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::one_line;

constexpr std::string_view kNotCollected = "N/A";
constexpr std::string_view kNotFound = "unknown";

/// A counter of the longest kernel: `N/A` where nothing counts, `unknown` where it should be there.
std::string counter(const VersionState& version, const std::string& name) {
  if (!version.profile || version.profile->kernels.empty()) return std::string(kNotCollected);
  const auto* const kernel = main_kernel(*version.profile);
  const auto found = kernel->metrics.find(name);
  return found == kernel->metrics.end() ? std::string(kNotFound) : number(found->second);
}

/// Warps that wait for `reason` per issued instruction, as the package has it, and the share of all
/// waiting, which adds up to 100 % over the reasons.
std::string stall_cell(const VersionState& version, std::string_view reason) {
  constexpr std::string_view kPrefix = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kSuffix = "_per_issue_active.ratio";
  const auto name = fmt::format("{}{}{}", kPrefix, reason, kSuffix);
  std::string value = counter(version, name);
  if (value == kNotCollected || value == kNotFound) return value;
  double waiting = 0;
  const auto& metrics = main_kernel(*version.profile)->metrics;
  for (const auto& [metric, warps] : metrics) {
    // Warps that issued, or could have, do not wait.
    const bool waits = metric.starts_with(kPrefix) && metric.ends_with(kSuffix) &&
                       metric.find("selected") == std::string::npos;
    if (waits) waiting += warps;
  }
  const double share = waiting > 0 ? 100 * metrics.at(name) / waiting : 0;
  return fmt::format("{} (ratio), {:.0f} % of waiting", value, share);
}

std::string divergence(const VersionState& version) {
  if (!version.profile || version.profile->kernels.empty()) return std::string(kNotCollected);
  const auto& metrics = main_kernel(*version.profile)->metrics;
  const auto all = metrics.find("smsp__sass_branch_targets.sum");
  const auto divergent = metrics.find("smsp__sass_branch_targets_threads_divergent.sum");
  if (all == metrics.end() || divergent == metrics.end()) return std::string(kNotFound);
  return all->second > 0 ? number(100 * divergent->second / all->second) : "0";
}

std::string registers(const VersionState& version) {
  auto counted = counter(version, "launch__registers_per_thread");
  if (counted != kNotCollected && counted != kNotFound) return counted;
  if (!version.build || !version.build->candidate.build.registers) return counted;
  return std::to_string(*version.build->candidate.build.registers);
}

/// A counter of the main kernel; 0: not collected.
double count_of(const VersionState& version, const char* name) {
  if (!version.profile || version.profile->kernels.empty()) return 0;
  const auto& metrics = main_kernel(*version.profile)->metrics;
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

/// Processor time ÷ wall time of a call.
std::string cores_cell(const VersionState& version) {
  const double clock = count_of(version, "task-clock");
  const double wall = version.profile ? version.profile->timing.median.value : 0;
  return clock > 0 && wall > 0 ? fmt::format("{:.1f}", clock / wall) : std::string(kNotCollected);
}

std::string per_cycle_cell(const VersionState& version) {
  const double instructions = count_of(version, "instructions");
  const double cycles = count_of(version, "cycles");
  return instructions > 0 && cycles > 0 ? fmt::format("{:.2f}", instructions / cycles)
                                        : std::string(kNotCollected);
}

std::string correctness_cell(const VersionState& version) {
  if (!version.correctness) return std::string(kNotCollected);
  return version.correctness->passed ? "PASS" : "FAIL";
}

std::string speedup_cell(const VersionState& version) {
  if (version.id.number == 0 && version.profile) return "1";
  const auto* const comparison = against_v0(version);
  return comparison == nullptr ? std::string(kNotCollected) : speedup_text(version, *comparison);
}

std::string time_cell(const VersionState& version) {
  if (!version.profile || version.profile->fault) return std::string(kNotCollected);
  return markdown::milliseconds(version.profile->timing.median.value);
}

std::string notes_cell(const VersionState& version) {
  if (!version.profile) return version.abandoned ? "abandoned" : "-";
  std::string text;
  const auto add = [&](const std::string& note) { markdown::append(text, note, "; "); };
  const auto& roofline = version.profile->roofline;
  if (roofline.bandwidth_fraction)
    add(number(*roofline.bandwidth_fraction * 100) + " % of the measured bandwidth ceiling");
  if (roofline.compute_fraction)
    add(number(*roofline.compute_fraction * 100) + " % of the measured compute ceiling");
  if (version.profile->kernels.size() > 1)
    add(fmt::format("{} kernels; counters of {}", version.profile->kernels.size(),
                    main_kernel(*version.profile)->name));
  if (version.profile->degraded)
    add("degraded: " + version.profile->degraded_reason.value_or("no counters"));
  return text.empty() ? "-" : text;
}

using Cell = std::function<std::string(const VersionState&)>;

std::string comparison_table(const RunState& state) {
  const auto metric = [](const char* name) -> Cell {
    return [name](const VersionState& version) { return counter(version, name); };
  };
  const auto stall = [](const char* reason) -> Cell {
    return [reason](const VersionState& version) { return stall_cell(version, reason); };
  };
  std::vector<std::pair<std::string, Cell>> lines{{"Correctness", correctness_cell},
                                                  {"Execution Time (ms)", time_cell},
                                                  {"Speedup (x)", speedup_cell}};
  const auto append = [&](std::initializer_list<std::pair<std::string, Cell>> more) {
    lines.insert(lines.end(), more);
  };
  const std::pair<std::string, Cell> bottleneck{
      "Bottleneck", [](const VersionState& version) {
        return version.profile ? std::string(name_of(version.profile->bound))
                               : std::string(kNotCollected);
      }};
  if (on_host(state))
    append({bottleneck,
            {"Cores at work", cores_cell},
            {"Instructions per cycle", per_cycle_cell},
            {"Page faults", metric("page-faults")}});
  else
    append({{"Memory Throughput (%)", metric("dram__throughput.avg.pct_of_peak_sustained_elapsed")},
            {"Compute Throughput (%)", metric("sm__throughput.avg.pct_of_peak_sustained_elapsed")},
            {"SM Active Cycles (%)", metric("sm__cycles_active.avg.pct_of_peak_sustained_elapsed")},
            bottleneck,
            {"Achieved Occupancy (%)", metric("sm__warps_active.avg.pct_of_peak_sustained_active")},
            {"Active Warps / SM", metric("sm__warps_active.avg.per_cycle_active")},
            {"Registers / Thread", registers},
            {"Warp Stall - Long SB (%)", stall("long_scoreboard")},
            {"Warp Stall - Short SB (%)", stall("short_scoreboard")},
            {"Branch Divergence (%)", divergence}});
  append({{"Key metric notes", notes_cell}});
  std::vector<std::string> header{"Metric"};
  for (const auto& version : state.versions) header.push_back(version.id.text());
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, cell] : lines) {
    std::vector<std::string> row{name};
    for (const auto& version : state.versions) row.push_back(cell(version));
    rows.push_back(std::move(row));
  }
  return markdown::table(header, rows) +
         "\nTimes and speedups are those of each version's own profile. The result of the run is "
         "that of the final benchmark.\n";
}

std::string environment_section(const RunState& state) {
  const auto& contract = state.contract.contract;
  auto fields = provenance({state, state.versions.front(), state.created});
  markdown::Fields shown;
  for (auto& field : fields) {
    // Digests of v0 alone would mislead here: each version's stand in its own artifacts.
    if (field.first == "Version" || field.first == "Source SHA-256" ||
        field.first == "Binary SHA-256")
      continue;
    shown.push_back(std::move(field));
  }
  shown.back().first = "Run created";
  shown.emplace_back("Implementation", std::string(name_of(contract.implementation)));
  shown.emplace_back("Dims", markdown::dims_text(timed_dims(contract)));
  shown.emplace_back("Iterations", std::to_string(state.iterations));
  const auto weak = weaknesses(state);
  std::string codes;
  for (const auto& reason : weak) markdown::append(codes, reason.code);
  shown.emplace_back("Claim", weak.empty() ? "strong" : "weak: " + codes);
  shown.emplace_back("Seeds",
                     contract.seed_given ? "given by the caller (weaker claim)" : "secret");
  if (const auto labs = lab_account(state)) shown.emplace_back("Time on labs", labs->text());
  shown.emplace_back("Ledger head", state.ledger_head);
  return markdown::field_table(shown);
}

std::string strategies(const RunState& state) {
  std::string text;
  for (const auto& version : state.versions) {
    const auto* const tested = tested_hypothesis(state, version);
    text += fmt::format("- {}: ", version.id.text());
    if (version.id.number == 0)
      text += "the contract's kernel, unchanged\n";
    else
      text += tested == nullptr
                  ? "no hypothesis recorded\n"
                  : fmt::format("[{}] {}\n", one_line(tested->category), one_line(tested->change));
    for (const auto& note : version.notes) text += fmt::format("  - note: {}\n", one_line(note));
  }
  return text;
}

std::string outcome(const VersionState& version) {
  if (version.abandoned) return "invalid (abandoned)";
  const auto verdict = verdict_of(version);
  if (!verdict) return std::string(kNotCollected);
  switch (*verdict) {
    case Verdict::faster:
      return "improved";
    case Verdict::slower:
      return "regressed";
    case Verdict::same:
    case Verdict::inconclusive:
    case Verdict::baseline:
      return std::string(name_of(*verdict));
    case Verdict::incorrect:
    case Verdict::invalid:
      return "invalid";
  }
  return std::string(kNotCollected);
}

/// Value of a metric of the whole call, or of the longest kernel.
std::optional<double> value_of(const VersionState& version, const std::string& metric) {
  if (!version.profile) return std::nullopt;
  const auto whole = version.profile->metrics.find(metric);
  if (whole != version.profile->metrics.end()) return whole->second;
  const auto* const kernel = main_kernel(*version.profile);
  if (kernel == nullptr || !kernel->metrics.contains(metric)) return std::nullopt;
  return kernel->metrics.at(metric);
}

std::string outcomes(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    const auto* const tested = tested_hypothesis(state, version);
    if (tested == nullptr) continue;
    const auto& parent = *state.find(*version.parent);
    std::string moved;
    for (const auto& one : tested->expected)
      markdown::append(moved,
                       fmt::format("{}: expected {}, {} → {}", one.metric, one.direction,
                                   markdown::number_or(value_of(parent, one.metric), kNotFound),
                                   markdown::number_or(value_of(version, one.metric), kNotFound)),
                       "; ");
    const auto decision = hypothesis_outcome(state, version);
    rows.push_back({version.id.text(), tested->change, outcome(version),
                    fmt::format("{}: {}", name_of(decision->decision), decision->words), moved});
  }
  if (rows.empty()) return "No hypothesis was tested.\n";
  return markdown::table({"Version", "Change", "Outcome", "Decision", "Expected and measured"},
                         rows);
}

/// What timing a version under other conditions said; empty where no version was.
std::string interventions_section(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    if (!version.profile) continue;
    for (const auto& finding : version.profile->findings) {
      if (!finding.outcome || !finding.intervention) continue;
      std::string said(name_of(*finding.outcome));
      std::ranges::replace(said, '_', ' ');
      rows.push_back({version.id.text(), finding.title, std::move(said), *finding.intervention});
    }
  }
  if (rows.empty()) return {};
  return "## Findings by Intervention\n\n" +
         markdown::table({"Version", "Finding", "Outcome", "Share of the time (95 % interval)"},
                         rows) +
         "\n";
}

std::string evidence_section(const RunState& state) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& version : state.versions) {
    if (!version.evidence) continue;
    for (const auto& document : version.evidence->selected)
      rows.push_back({version.id.text(), document.id, document.path, document.confidence,
                      document.applies_because});
  }
  if (rows.empty()) return "None.\n";
  return markdown::table({"Version", "Doc ID", "Path", "Confidence", "Applies Because"}, rows);
}

std::string synthesis(const RunState& state) {
  std::string text;
  for (const auto& version : state.versions)
    if (version.evidence)
      text +=
          fmt::format("- {} ({}-bound): {}\n", version.id.text(), name_of(version.profile->bound),
                      one_line(version.evidence->decision_link));
  return text.empty() ? "None.\n" : text;
}

std::string final_benchmark(const RunState& state) {
  if (!state.final_benchmark) return "Not run: call benchmark, then write_report again.\n";
  const auto& report = state.final_benchmark->report;
  std::string baselines;
  std::string times;
  std::string speedups;
  std::string best_time(kNotCollected);
  for (const auto& row : report.rows) {
    const std::string label = fmt::format("{} [{}]", row.name, markdown::dims_text(row.dims));
    const std::string time =
        row.timing ? markdown::milliseconds(row.timing->median.value) + " ms" : row.status;
    if (row.name == "candidate") {
      if (best_time == kNotCollected) best_time = time;
      continue;
    }
    markdown::append(baselines, label, "; ");
    markdown::append(times, label + ": " + time, "; ");
    markdown::append(speedups,
                     label + ": " +
                         (row.comparison ? speedup_text(*row.comparison) + ", paired"
                          : row.speedup_median
                              ? number(*row.speedup_median) + ", ratio of the medians, not paired"
                              : row.status),
                     "; ");
  }
  markdown::Fields fields{
      {"Result", headline_text(state)},
      {"Best kernel", fmt::format("{}/{}", state.final_benchmark_version->text(),
                                  kernel_file_name(state.contract.contract.implementation))},
      {"Baselines", baselines.empty() ? "none" : baselines},
      {"Best execution time", best_time},
      {"Baseline execution time", times.empty() ? std::string(kNotCollected) : times},
      {"Benchmark speedup", speedups.empty() ? std::string(kNotCollected) : speedups},
      {"Geometric mean over W", geometric_mean_text(report)},
      {"Correctness before timing", report.correct ? "PASS" : "FAIL"},
      {"Benchmark artifact", "benchmark.md"}};
  for (const auto& note : report.notes)
    if (note.starts_with(kSuiteFigure)) fields.emplace_back("Time of the suite's own", note);
  return markdown::bullets(fields);
}

/// The packages' words: target met, saturated or max iterations.
std::string stopping_reason(const RunState& state) {
  for (const auto& reason : stop_reasons(state)) {
    if (reason.code == "last_version") continue;
    return (reason.code == "plateau" ? "saturated: " : "target met: ") + one_line(reason.message);
  }
  return "max iterations";
}

std::string conclusion(const RunState& state, const std::string& retrospective) {
  const auto best = best_version(state);
  const auto* const version = best ? state.find(*best) : nullptr;
  const auto* const tested = version == nullptr ? nullptr : tested_hypothesis(state, *version);
  std::string remaining;
  if (version != nullptr && version->profile)
    for (const auto& finding : version->profile->findings)
      markdown::append(remaining, finding.title, "; ");
  std::string gains = tested == nullptr ? "none over v0" : tested->change;
  return markdown::bullets(
             {{"Best version", headline_text(state)},
              {"Key gains", gains},
              {"Stopping reason", stopping_reason(state)},
              {"Remaining opportunities", remaining.empty() ? "none found" : remaining}}) +
         "\nRetrospective of the agent (prose, not measured):\n\n" +
         (retrospective.empty() ? "> none given\n" : markdown::quoted(retrospective));
}

}  // namespace

Rendered final_report(const RunState& state, const std::string& retrospective,
                      const std::string& time) {
  const auto& contract = state.contract.contract;
  const bool host = on_host(state);
  const auto failed = failed_attempts(state);
  return {
      "final_report.md",
      fmt::format("# {} Optimization Final Report - {} on {} ({})\n\n## Environment\n\n{}\n"
                  "## Version Iteration Comparison\n\n{}\n"
                  "## Optimization Strategies per Version\n\n{}\n"
                  "## Hypothesis Outcomes\n\n{}\n## Failed Attempts\n\n{}\n{}"
                  "## KBS Evidence\n\n{}\n## {} + KBS Synthesis\n\n{}\n"
                  "## Final Benchmark\n\n{}\n## Best Version Conclusion\n\n{}",
                  host ? "Kernel" : "CUDA", contract.kernel_name, contract.device_name,
                  time.substr(0, 10), environment_section(state), comparison_table(state),
                  strategies(state), outcomes(state),
                  failed.empty() ? "None.\n" : markdown::table(kFailedHeader, failed),
                  interventions_section(state), evidence_section(state), host ? "Profile" : "NCU",
                  synthesis(state), final_benchmark(state), conclusion(state, retrospective))};
}

}  // namespace ratchet::render
