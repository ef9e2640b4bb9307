#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "kernels/lab.h"
#include "server/core/fields.h"
#include "server/core/figures.h"
#include "server/core/origin.h"
#include "server/core/roots.h"
#include "server/facts/suite_baselines.h"
#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/suite_times.h"

namespace ratchet {
namespace {

enum class TimingMethod { cuda_event, host_time };
constexpr auto enum_names(TimingMethod) {
  return as_written<TimingMethod::cuda_event, TimingMethod::host_time>();
}

struct BenchmarkArgs {
  RunId run;
  std::optional<VersionId> version;
  std::vector<std::string> baselines;
  int num_warmup = 5;
  int num_trials = 100;
  int discard_first = 1;
  int prewarm_calls = 1;
  CacheMode cache_mode = CacheMode::cold;
  TimingMethod timing_method = TimingMethod::cuda_event;

  static constexpr void fields(auto&& visit) {
    using A = BenchmarkArgs;
    visit(required<&A::run>(), optional<&A::version>("Default: the best version."),
          optional<&A::baselines>("As in create_run, or all or none. Default: the contract's.",
                                  {.max_length = 8}),
          optional<&A::num_warmup>("Untimed calls.", {.min = 0, .max = 10000}),
          optional<&A::num_trials>("Timed calls.", {.min = 3, .max = 100000}),
          optional<&A::discard_first>("First samples to drop.", {.min = 0, .max = 1000}),
          optional<&A::prewarm_calls>("Calls before warm-up.", {.min = 0, .max = 1000}),
          optional<&A::cache_mode>("cold: caches are flushed."),
          optional<&A::timing_method>("cuda_event: device time; host_time: end to end."));
  }
};

/// A baseline, v0, the parent or the candidate itself, on one case.
struct RowLine : BenchmarkRow {
  std::optional<double> mean_ns, median_ns, p20_ns, p80_ns, min_ns, max_ns, std_ns;
  std::optional<int> samples;

  static constexpr void fields(auto&& visit) {
    using R = RowLine;
    visit(required<&R::name>("candidate, v0, parent or a baseline."),
          required<&R::status>("ok, missing, failed or skipped."),
          optional<&R::detail>("Why the status is not ok."),
          optional<&R::mean_ns>("Mean time per call, ns."), optional<&R::median_ns>("Median, ns."),
          optional<&R::p20_ns>("20th percentile, ns."),
          optional<&R::p80_ns>("80th percentile, ns."), optional<&R::min_ns>("Minimum, ns."),
          optional<&R::max_ns>("Maximum, ns."),
          optional<&R::std_ns>("Sample standard deviation, ns."),
          optional<&R::samples>("Samples kept."),
          optional<&R::speedup_mean>("Mean of this row ÷ mean of the candidate."),
          optional<&R::speedup_median>("Median of this row ÷ median of the candidate."),
          optional<&R::comparison>("Paired comparison with its interval."),
          required<&R::dims>("Sizes of the case."));
  }
};

std::string text_of(const RowLine& row) {
  std::string text = fmt::format("- {} at {}: ", row.name, dims_text(row.dims));
  if (!row.median_ns)
    return text + row.status + (row.detail ? ", " + behind_fence(*row.detail) : "") + "\n";
  text += fmt::format("median {}", time_text(*row.median_ns));
  if (row.p20_ns && row.p80_ns)
    text += fmt::format(" (20 to 80 %: {} … {})", time_text(*row.p20_ns), time_text(*row.p80_ns));
  if (row.comparison)
    text += fmt::format("; paired speedup {}x ({} … {}), {}", three_digits(row.comparison->speedup),
                        three_digits(row.comparison->ci_low), three_digits(row.comparison->ci_high),
                        verdict_text(*row.comparison));
  else if (row.speedup_median)
    text +=
        fmt::format("; ratio of the medians {}x, not paired", three_digits(*row.speedup_median));
  return text + "\n";
}

struct BenchmarkAnswer : RunView, BenchmarkReport {
  VersionId measured;
  std::vector<RowLine> lines;
  std::string artifact;

  static constexpr void fields(auto&& visit) {
    using A = BenchmarkAnswer;
    RunView::fields(visit);
    visit(required<&A::measured>("The version that was measured."),
          required("rows", &A::lines, "Per case, the candidate first."),
          optional<&A::geomean>(
              "Speedup over all cases against the first measured baseline, else v0."),
          required<&A::gains>("Speedups over all cases, one entry per opponent."),
          required<&A::notes>("What was left out and why; contention on the device."),
          required<&A::artifact>("benchmark.md."));
  }
  /// A line a row. Means over the workload follow where there is more than one case.
  [[nodiscard]] std::string text(Json answer) const {
    std::string text;
    for (const auto& one : lines) text += text_of(one);
    const bool one_case = std::ranges::all_of(
        lines, [&](const RowLine& row) { return row.dims == lines.front().dims; });
    for (const auto& gain : gains)
      if (!one_case)
        text +=
            fmt::format("over all cases against {}: geometric mean {}x, lowest {}x, highest {}x\n",
                        gain.against, three_digits(gain.geomean), three_digits(gain.worst),
                        three_digits(gain.best));
    for (const char* told : {"rows", "gains", "geomean"}) answer.erase(told);
    Json others = Json::array();
    for (const auto& note : notes) {
      if (note.starts_with(kSuiteFigure))
        text += fmt::format("- {}\n", note);
      else
        others.push_back(note);
    }
    answer["notes"] = others;
    if (others.empty()) answer.erase("notes");
    return text + readable_text(answer);
  }
};

RowLine line_of(const BenchmarkRow& row) {
  RowLine line{row};
  if (row.timing) {
    const Timing& t = *row.timing;
    line.mean_ns = t.mean.value;
    line.median_ns = t.median.value;
    line.p20_ns = t.p20.value;
    line.p80_ns = t.p80.value;
    line.min_ns = t.min.value;
    line.max_ns = t.max.value;
    line.std_ns = t.std.value;
    line.samples = t.samples;
  }
  return line;
}

/// Notes with the times that the problem's suite has of its own: those frozen with the run, or, of
/// an older run, those in the problem's folder.
std::vector<std::string> suite_figures(const Roots& roots, const Permit& permit) {
  std::vector<std::string> notes;
  for (const auto& one : permit.suite_baselines ? *permit.suite_baselines
                                                : suite_baselines_of(roots, permit.contract))
    notes.push_back(fmt::format("{}{:.6g} ms: {}", kSuiteFigure, one.ms,
                                behind_fence(fmt::format("{} on {}, sizes: {}; {}", one.name,
                                                         one.hardware, one.sizes, one.source))));
  return notes;
}

Result<BenchmarkAnswer> run_benchmark(const Services& services, const BenchmarkArgs& args,
                                      CallContext& call) {
  auto permit = services.runs.permit(args.run, Event::benchmarked, args.version);
  if (!permit) return permit.error();
  const auto pointer = [](const std::optional<Candidate>& c) { return c ? &*c : nullptr; };
  auto report = services.lab.benchmark(
      permit->contract,
      {.candidate = pointer(permit->candidate),
       .parent = pointer(permit->parent),
       .v0 = pointer(permit->v0),
       .baselines = args.baselines.empty() ? permit->contract.baselines : args.baselines,
       .num_warmup = args.num_warmup,
       .num_trials = args.num_trials,
       .discard_first = args.discard_first,
       .prewarm_calls = args.prewarm_calls,
       .cache_mode = args.cache_mode,
       .host_time = args.timing_method == TimingMethod::host_time,
       .values = permit->profile ? judged_values(permit->profile->time_depends_on_values)
                                 : kNormalValues},
      permit->secret, call);
  if (!report) return report.error();
  std::ranges::move(suite_figures(services.roots, *permit), std::back_inserter(report->notes));
  auto written = services.runs.record_benchmark(*permit, *report);
  if (!written) return written.error();
  BenchmarkAnswer answer{static_cast<const RunView&>(*written),
                         *report,
                         permit->version,
                         {},
                         written->artifacts.at(0)};
  for (const auto& row : report->rows) answer.lines.push_back(line_of(row));
  return answer;
}

}  // namespace

Tool benchmark(const Services& services) {
  return make_tool<BenchmarkArgs, BenchmarkAnswer>(
      {.name = "benchmark",
       .summary = "Compare a correct version with v0, its parent and baselines. The final one "
                  "follows the final gate.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop},
      [services](const BenchmarkArgs& args, CallContext& call) {
        return run_benchmark(services, args, call);
      });
}

}  // namespace ratchet
