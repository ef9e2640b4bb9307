#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "server/facts/suite_baselines.h"
#include "server/runs/records/source_text.h"
#include "server/runs/render/render.h"

namespace ratchet::render {
namespace {

using markdown::milliseconds;
using markdown::number;

std::string cache_text(CacheMode mode) {
  return mode == CacheMode::cold ? "cold (caches flushed before each call)" : "hot";
}

std::string column_name(const BenchmarkRow& row) {
  return row.name == "candidate" ? "Solution" : row.name;
}

/// Rows of one case, the candidate first.
std::vector<const BenchmarkRow*> rows_of(const BenchmarkReport& report, const Dims& dims) {
  std::vector<const BenchmarkRow*> rows;
  for (const auto& row : report.rows)
    if (row.dims == dims && row.name == "candidate") rows.push_back(&row);
  for (const auto& row : report.rows)
    if (row.dims == dims && row.name != "candidate") rows.push_back(&row);
  return rows;
}

std::vector<Dims> all_dims(const BenchmarkReport& report) {
  std::vector<Dims> all;
  for (const auto& row : report.rows)
    if (std::ranges::find(all, row.dims) == all.end()) all.push_back(row.dims);
  return all;
}

using Cell = std::function<std::string(const Timing&)>;

std::string timing_table(const std::vector<const BenchmarkRow*>& columns) {
  std::vector<std::string> header{"Metric"};
  for (const auto* column : columns) header.push_back(column_name(*column));
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const Cell& cell) {
    std::vector<std::string> row{name};
    for (const auto* column : columns)
      row.push_back(column->timing ? cell(*column->timing) : column->status);
    rows.push_back(std::move(row));
  };
  add("Mean Time (ms)", [](const Timing& t) { return milliseconds(t.mean.value); });
  add("Median Time (ms)", [](const Timing& t) { return milliseconds(t.median.value); });
  add("P20 Time (ms)", [](const Timing& t) { return milliseconds(t.p20.value); });
  add("P80 Time (ms)", [](const Timing& t) { return milliseconds(t.p80.value); });
  add("Min Time (ms)", [](const Timing& t) { return milliseconds(t.min.value); });
  add("Max Time (ms)", [](const Timing& t) { return milliseconds(t.max.value); });
  add("Std dev (ms)", [](const Timing& t) { return milliseconds(t.std.value); });
  add("Samples", [](const Timing& t) { return std::to_string(t.samples); });
  add("95 % interval of the median (ms)", [](const Timing& t) {
    return fmt::format("{} … {}", milliseconds(t.ci_low.value), milliseconds(t.ci_high.value));
  });
  add("Discarded samples", [](const Timing& t) { return std::to_string(t.discarded); });
  add("Clock (MHz)",
      [](const Timing& t) { return t.clock ? number(t.clock->value) : std::string("unknown"); });
  add("Caveats", [](const Timing& t) {
    return t.flags.empty() ? "none" : fmt::format("{}", fmt::join(t.flags, ", "));
  });
  for (const auto* column : columns) {
    if (column->name == "candidate") continue;
    rows.push_back({fmt::format("Speedup (vs {}, mean)", column->name),
                    markdown::number_or(column->speedup_mean, column->status)});
    rows.push_back({fmt::format("Speedup (vs {}, median)", column->name),
                    markdown::number_or(column->speedup_median, column->status)});
  }
  return markdown::table(header, rows);
}

std::string paired(const BenchmarkReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : report.rows) {
    if (!row.comparison) continue;
    const auto& one = *row.comparison;
    rows.push_back({markdown::dims_text(row.dims), row.name, number(one.speedup),
                    fmt::format("{} … {}", number(one.ci_low), number(one.ci_high)),
                    std::to_string(one.pairs), fmt::format("{:.2f} %", 100 * one.noise_floor),
                    verdict_text(one)});
  }
  if (rows.empty()) return "No interleaved pairs.\n";
  return markdown::table(
      {"Dims", "Against", "Speedup", "95 % interval", "Rounds", "Noise floor", "Verdict"}, rows);
}

std::string workload(const BenchmarkReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& gain : report.gains)
    rows.push_back(
        {gain.against, number(gain.geomean),
         fmt::format("{} ({})", number(gain.best), markdown::dims_text(gain.best_dims)),
         fmt::format("{} ({})", number(gain.worst), markdown::dims_text(gain.worst_dims))});
  if (rows.empty()) return "Nothing was measured on every case.\n";
  return markdown::table({"Against", "Geometric mean", "Best case", "Worst case"}, rows);
}

std::string notes(const BenchmarkReport& report) {
  std::string text;
  for (const auto& row : report.rows)
    if (row.timing && !row.timing->conditions.empty()) {
      text += fmt::format("- {}\n", markdown::one_line(row.timing->conditions));
      break;
    }
  for (const auto& note : report.notes)
    if (!note.starts_with(kSuiteFigure)) text += fmt::format("- {}\n", markdown::one_line(note));
  return text.empty() ? "None.\n" : text;
}

/// A section with the times that the suite has of its own; empty where it has none.
std::string theirs(const BenchmarkReport& report) {
  std::string text;
  for (const auto& note : report.notes)
    if (note.starts_with(kSuiteFigure)) text += fmt::format("- {}\n", markdown::one_line(note));
  return text.empty() ? text : fmt::format("\n## Times of the Suite's Own\n\n{}", text);
}

std::string tolerance_text(const Subject& subject) {
  const auto& checked = subject.version.correctness;
  if (!checked) return "not checked";
  return fmt::format("atol {}, rtol {}", number(checked->atol), number(checked->rtol));
}

std::string not_ok(const BenchmarkReport& report) {
  std::string text;
  for (const auto& row : report.rows)
    if (row.status != "ok")
      text += fmt::format("- {} ({}): {}\n", row.name, row.status,
                          markdown::one_line(row.detail.value_or("no detail")));
  return text.empty() ? "None.\n" : text;
}

}  // namespace

Rendered benchmark(const Subject& subject, const BenchmarkFact& fact) {
  const auto& contract = subject.state.contract.contract;
  const auto& report = fact.report;
  markdown::Fields fields{
      {"Solution",
       fmt::format("{}/{}", subject.version.id.text(), kernel_file_name(contract.implementation))},
      {"Reference", reference_file_name(contract.reference_kind)},
      {"GPU", contract.device_name},
      {"Arch", contract.arch},
      {"Dims", markdown::dims_text(timed_dims(contract))},
      {"Correctness", report.correct ? "PASS" : "FAIL"},
      {"Timing Method", report.timing_method},
      {"Prewarm Calls", std::to_string(report.prewarm_calls)},
      {"Cache Mode", cache_text(report.cache_mode)},
      {"Timing Scope", "one call of the entry function; inputs are not copied in it"},
      {"Tolerances", tolerance_text(subject)},
      {"Seeds", contract.seed_given ? "fixed by the caller" : "secret, new for this benchmark"},
      {"Order", "interleaved: blocks in random order, then reversed, round after round"},
      {"Warm-ups", std::to_string(report.num_warmup)},
      {"Trials", std::to_string(report.num_trials)},
      {"Discarded first", std::to_string(report.discard_first)},
      {"Kind", fact.final_report ? "final" : "interim: the run continues"},
      {"Geometric mean over W", geometric_mean_text(report)}};
  for (auto& field : provenance(subject)) fields.push_back(std::move(field));
  std::string timing;
  const auto dims = all_dims(report);
  for (const auto& one : dims) {
    if (dims.size() > 1) timing += fmt::format("### {}\n\n", markdown::dims_text(one));
    timing += timing_table(rows_of(report, one)) + "\n";
  }
  return {"benchmark.md",
          fmt::format(
              "# Benchmark Report\n\n{}\n## Timing\n\n{}## Paired Comparison\n\n{}\n"
              "## Over the Workload\n\n{}\n## Unavailable Baselines\n\n{}\n## Conditions\n\n{}{}",
              markdown::field_table(fields), timing, paired(report), workload(report),
              not_ok(report), notes(report), theirs(report))};
}

}  // namespace ratchet::render
