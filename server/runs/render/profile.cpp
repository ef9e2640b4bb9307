#include <fmt/format.h>

#include <array>
#include <set>

#include "server/runs/records/source_text.h"
#include "server/runs/render/placed_roofline.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::number;
using markdown::table;

/// A category of `ncu_summary.md`: metrics by name prefix, in the order of kernel-opt-agent.
struct Category {
  std::string_view title;
  std::array<std::string_view, 10> prefixes;
};

constexpr std::array kCategories{
    Category{"Duration", {"gpu__time_duration.", "gpc__cycles_elapsed.", "sm__cycles_active."}},
    Category{"Speed of Light",
             {"sm__throughput.", "dram__throughput.", "lts__throughput.", "l1tex__throughput.",
              "gpu__compute_memory_throughput."}},
    Category{"Memory",
             {"dram__bytes", "l1tex__t_bytes_pipe_lsu_mem_global_op_", "lts__t_bytes.",
              "smsp__sass_average_data_bytes_per_sector_mem_global_op_",
              "l1tex__t_sector_hit_rate.", "lts__t_sector_hit_rate.", "lts__t_sectors",
              "l1tex__t_sectors", "l1tex__average_t_sectors", "l1tex__t_requests"}},
    Category{"Compute",
             {"smsp__pipe_fma_cycles_active.", "sm__pipe_tensor_cycles_active.",
              "smsp__inst_executed.avg.per_cycle_active", "sm__pipe_tensor_", "sm__pipe_",
              "sm__inst_executed."}},
    Category{"Occupancy", {"sm__warps_active.", "sm__maximum_warps_per_active_cycle_pct"}},
    Category{"Launch", {"launch__"}},
    Category{"Scheduler", {"smsp__issue_active.", "smsp__warps_eligible."}},
    Category{"Stalls (ratio, not %)", {"smsp__average_warps_issue_stalled_"}},
    Category{"Branch", {"smsp__sass_branch_targets"}},
    Category{"Extra",
             {"smsp__sass_thread_inst_executed_op_", "smsp__inst_executed_pipe_",
              "smsp__thread_inst_executed_per_inst_executed.",
              "l1tex__data_bank_conflicts_pipe_lsu", "sm__sass_data_bytes_mem_shared."}},
};

bool belongs(const Category& category, std::string_view metric) {
  for (const auto prefix : category.prefixes)
    if (!prefix.empty() && metric.starts_with(prefix)) return true;
  return false;
}

std::string metric_table(const std::vector<std::pair<std::string, double>>& metrics) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : metrics) rows.push_back({"`" + name + "`", number(value)});
  return table({"Metric", "Value"}, rows);
}

/// The category tables of one kernel, without empty categories; unlisted metrics come last.
std::string categories(const KernelCounters& kernel) {
  std::string text;
  std::set<std::string> shown;
  for (const auto& category : kCategories) {
    std::vector<std::pair<std::string, double>> metrics;
    for (const auto& [name, value] : kernel.metrics) {
      if (!belongs(category, name) || !shown.insert(name).second) continue;
      metrics.emplace_back(name, value);
    }
    if (!metrics.empty())
      text += fmt::format("### {}\n\n{}\n", category.title, metric_table(metrics));
  }
  std::vector<std::pair<std::string, double>> others;
  for (const auto& [name, value] : kernel.metrics)
    if (!shown.contains(name)) others.emplace_back(name, value);
  if (!others.empty()) text += fmt::format("### Other\n\n{}\n", metric_table(others));
  return text;
}

std::string counters(const Profile& profile) {
  if (profile.kernels.empty())
    return fmt::format("## Counters\n\nNone: {}.\n\n",
                       profile.degraded_reason.value_or("this device offers none"));
  std::string text;
  for (const auto& kernel : profile.kernels)
    text +=
        fmt::format("## Kernel `{}`\n\n{}", markdown::one_line(kernel.name), categories(kernel));
  return text;
}

std::string comparisons(const Profile& profile) {
  if (profile.comparisons.empty()) return "Baseline: compared with nothing.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : profile.comparisons)
    rows.push_back({one.against, number(one.speedup),
                    fmt::format("{} … {}", number(one.ci_low), number(one.ci_high)),
                    std::to_string(one.pairs), number(one.noise_floor * 100), verdict_text(one)});
  return table({"Against", "Speedup", "95 % interval", "Pairs", "Noise floor (%)", "Verdict"},
               rows);
}

std::string timing_table(const Timing& timing) {
  std::string flags = fmt::format("{}", fmt::join(timing.flags, ", "));
  return markdown::field_table(
      {{"Median (ms)", markdown::milliseconds(timing.median.value)},
       {"95 % interval (ms)", fmt::format("{} … {}", markdown::milliseconds(timing.ci_low.value),
                                          markdown::milliseconds(timing.ci_high.value))},
       {"Mean (ms)", markdown::milliseconds(timing.mean.value)},
       {"Std dev (ms)", markdown::milliseconds(timing.std.value)},
       {"Min (ms)", markdown::milliseconds(timing.min.value)},
       {"Max (ms)", markdown::milliseconds(timing.max.value)},
       {"Samples", fmt::format("{} kept, {} discarded", timing.samples, timing.discarded)},
       {"Cache mode", std::string(name_of(timing.cache_mode))},
       {"Stopped by", timing.stop_reason},
       {"Caveats", flags.empty() ? "none" : flags}});
}

std::string diagnosis(const Profile& profile) {
  std::string text = fmt::format("Bound: {}. {}\n\n", name_of(profile.bound),
                                 markdown::one_line(profile.bound_evidence));
  if (profile.findings.empty()) return text + "No finding.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& finding : profile.findings)
    rows.push_back({finding.id, finding.title, finding.evidence, number(finding.headroom * 100),
                    finding.query});
  return text + table({"Pattern", "Finding", "Evidence", "Headroom (%)", "Query"}, rows);
}

std::string roofline_table(const Roofline& roofline) {
  return markdown::field_table(
      {{"Arithmetic intensity (FLOP/byte)", markdown::number_or(roofline.intensity, "N/A")},
       {"Achieved bandwidth (bytes/s)", markdown::number_or(roofline.achieved_bytes_per_s, "N/A")},
       {"Measured bandwidth ceiling (bytes/s)",
        markdown::number_or(roofline.bandwidth_ceiling, "N/A")},
       {"Of the bandwidth ceiling (%)", markdown::percent(roofline.bandwidth_fraction)},
       {"Achieved FLOP/s", markdown::number_or(roofline.achieved_flops_per_s, "N/A")},
       {"Measured compute ceiling (FLOP/s)", markdown::number_or(roofline.compute_ceiling, "N/A")},
       {"Of the compute ceiling (%)", markdown::percent(roofline.compute_fraction)},
       {"Nearest roof", roofline.binding},
       {"Source", roofline.source}});
}

std::string launches_text(const Profile& profile) {
  if (profile.launches == 0) return "unknown";
  auto text = std::to_string(profile.launches);
  if (profile.counted_together) text += ", counted as one: " + *profile.counted_together;
  return text;
}

markdown::Fields head_fields(const Subject& subject) {
  const auto& contract = subject.state.contract.contract;
  const auto& profile = *subject.version.profile;
  const auto& timing = profile.timing;
  const bool host = contract.device_kind == DeviceKind::host;
  markdown::Fields fields{
      {"Kernel", kernel_file_name(contract.implementation)},
      {"GPU",
       host ? "none: measured on the host CPU, " + contract.device_name : contract.device_name},
      {"Arch", contract.arch},
      {"Dims", markdown::dims_text(timed_dims(contract))},
      {"Execution Time", fmt::format("{} ± {} ms", markdown::milliseconds(timing.mean.value),
                                     markdown::milliseconds(timing.std.value))},
      {"Verdict", std::string(name_of(verdict_of(subject.version).value_or(profile.verdict)))},
      {"Counter engine", profile.engine},
      {"Metric set", profile.metric_set},
      {"Cache state of the counter passes", profile.cache},
      {"Launches per call", launches_text(profile)},
      {"Degraded",
       profile.degraded ? "yes: " + profile.degraded_reason.value_or("no counters") : "no"}};
  if (profile.fault)
    fields.emplace_back("Fault",
                        fmt::format("{}: {}", profile.fault->kind, profile.fault->message));
  for (auto& field : provenance(subject)) fields.push_back(std::move(field));
  return fields;
}

std::string invalid_reasons(const Profile& profile) {
  if (profile.reasons.empty()) return "";
  return fmt::format("## Why the timing is invalid\n\n{}\n", markdown::reasons(profile.reasons));
}

Rendered ncu_summary(const Subject& subject) {
  const auto& profile = *subject.version.profile;
  std::vector<std::pair<std::string, double>> whole(profile.metrics.begin(), profile.metrics.end());
  const auto* const kernel = main_kernel(profile);
  return {subject.version.id.text() + "/ncu_summary.md",
          fmt::format("# NCU Profile Summary\n\n{}\n{}## Timing\n\n{}\n## Comparison\n\n{}\n"
                      "## Whole Call\n\n{}\n{}## Diagnosis\n\n{}\n## Roofline\n\n{}\n"
                      "Kernel name: {}\n",
                      markdown::field_table(head_fields(subject)), invalid_reasons(profile),
                      timing_table(profile.timing), comparisons(profile), metric_table(whole),
                      counters(profile), diagnosis(profile), roofline_table(profile.roofline),
                      kernel == nullptr ? subject.state.contract.contract.entry
                                        : markdown::one_line(kernel->name))};
}

/// One row per metric. Each counter is read once, so spread and stability are unknown.
Rendered ncu_details(const Subject& subject) {
  const auto& profile = *subject.version.profile;
  const auto& contract = subject.state.contract.contract;
  std::vector<std::vector<std::string>> rows;
  for (const auto& fact : all_metrics(profile))
    rows.push_back({"`" + fact.metric + "`", number(fact.value), "N/A", number(fact.value),
                    number(fact.value), "N/A", fact.kernel.empty() ? "whole call" : fact.kernel});
  for (const auto& name : profile.unknown_metrics)
    rows.push_back({"`" + name + "`", "unknown", "N/A", "N/A", "N/A", "N/A", "-"});
  const auto* const kernel = main_kernel(profile);
  markdown::Fields context{
      {"Annotation", contract.entry},
      {"Kernel", kernel == nullptr ? contract.entry : kernel->name},
      {"GPU", contract.device_kind == DeviceKind::host ? "none" : contract.device_name},
      {"Host", contract.device_kind == DeviceKind::host ? contract.device_name : "-"},
      {"ComputeClock", profile.timing.clock ? number(profile.timing.clock->value) + " MHz" : "N/A"},
      {"MemoryClock", "N/A"}};
  for (auto& field : provenance(subject)) context.push_back(std::move(field));
  return {
      subject.version.id.text() + "/ncu_details.md",
      fmt::format("# NCU Profile Details\n\n{}\n## Context\n\n{}",
                  table({"Metric", "AvgValue", "StdDev", "Min", "Max", "Stable", "Kernel"}, rows),
                  markdown::field_table(context))};
}

Rendered bench_json(const Subject& subject) {
  const auto& [state, version, time] = subject;
  const auto& contract = state.contract.contract;
  const auto& profile = *version.profile;
  const auto ms = [](Nanoseconds value) { return value.value / 1e6; };
  Json json{{"inputs",
             {{"dims", encode(timed_dims(contract))},
              {"implementation", name_of(contract.implementation)},
              {"arch", contract.arch}}},
            {"correctness",
             {{"checked", version.correctness.has_value()},
              {"passed", version.correctness && version.correctness->passed},
              {"atol", version.correctness ? version.correctness->atol : 0.0},
              {"rtol", version.correctness ? version.correctness->rtol : 0.0},
              {"checks", version.correctness ? version.correctness->cases.size() : 0}}},
            {"kernel",
             {{"average_ms", ms(profile.timing.mean)},
              {"median_ms", ms(profile.timing.median)},
              {"min_ms", ms(profile.timing.min)},
              {"max_ms", ms(profile.timing.max)}}},
            {"timing", encode(profile.timing)},
            {"comparisons", encode(profile.comparisons)},
            {"verdict", encode(profile.verdict)},
            {"timing_ms", profile.timing_ms.value_or(0)},
            {"provenance", provenance_json(subject)}};
  return {version.id.text() + "/bench.json", markdown::json_text(json, 2) + "\n"};
}

Rendered roofline_json(const Subject& subject) {
  const auto& profile = *subject.version.profile;
  // Profiles written by older servers have no report; the remaining fields are kept.
  Json json = encode(placed_roofline(profile.roofs.value_or(RooflineReport{}), profile));
  json["provenance"] = provenance_json(subject);
  return {subject.version.id.text() + "/roofline.json", markdown::json_text(json, 2) + "\n"};
}

}  // namespace

std::vector<Rendered> profile(const Subject& subject) {
  return {ncu_summary(subject), ncu_details(subject), bench_json(subject), roofline_json(subject),
          digest(subject)};
}

}  // namespace ratchet::render
