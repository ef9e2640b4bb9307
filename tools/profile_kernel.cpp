#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "server/core/figures.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ProfileArgs {
  RunId run;
  std::optional<OneOrMany<std::string>> metrics;
  CounterEngine engine = CounterEngine::cupti;
  std::optional<double> seconds;
  std::optional<double> search;
  bool verify = false;

  static constexpr void fields(auto&& visit) {
    visit(
        required<&ProfileArgs::run>(),
        optional<&ProfileArgs::metrics>(
            "lean, overview (default), full, stalls (hot lines), or counter names.",
            {.max_length = 128}),
        optional<&ProfileArgs::engine>("Reads counters; ncu also keeps its report."),
        optional<&ProfileArgs::seconds>("So long, while inconclusive.", {.min = 1, .max = 600}),
        optional<&ProfileArgs::search>("As in check_correctness, by time.", {.min = 1, .max = 600}),
        optional<&ProfileArgs::verify>("Confirm findings by intervention."));
  }
};

/// Time and verdict of the candidate; bench.json has the full statistics.
struct TimingLine {
  Nanoseconds median, ci_low, ci_high;
  int samples = 0;
  int discarded = 0;
  Verdict verdict = Verdict::baseline;
  std::optional<double> speedup_vs_parent;
  std::optional<std::vector<double>> speedup_ci;
  std::optional<double> speedup_vs_v0;
  std::optional<std::string> best;
  std::optional<double> speedup_vs_best;
  std::optional<Verdict> verdict_vs_best;
  std::optional<double> seconds_to_decide;
  std::optional<double> tracing_ns;
  std::optional<Megahertz> clock, device_clock;
  std::vector<std::string> flags;

  static constexpr void fields(auto&& visit) {
    using T = TimingLine;
    visit(required("median_ns", &T::median, "Median time per call, ns."),
          required("ci_low_ns", &T::ci_low, "95 % interval of the median, low end, ns."),
          required("ci_high_ns", &T::ci_high, "High end, ns."),
          required<&T::samples>("Samples kept."), required<&T::discarded>("Samples discarded."),
          required<&T::verdict>("Against the parent."),
          optional<&T::speedup_vs_parent>("Parent ÷ candidate."),
          optional<&T::speedup_ci>("Its 95 % interval."),
          optional<&T::speedup_vs_v0>("v0 ÷ candidate."),
          optional<&T::best>("The best version before."),
          optional<&T::speedup_vs_best>("Best ÷ candidate, from paired rounds."),
          optional<&T::verdict_vs_best>("Against it."),
          optional<&T::seconds_to_decide>("About so long decides what is inconclusive."),
          optional<&T::tracing_ns>("What recording its kernels may have added, ns."),
          optional("clock_mhz", &T::clock, "Mean clock, where it was limited, MHz."),
          optional("device_clock_mhz", &T::device_clock, "The device's highest, MHz."),
          required<&T::flags>("Caveats."));
  }
};

/// A flag, with what it means and what to do where that is not said elsewhere.
std::string caveat(const std::string& flag) {
  constexpr std::array kMeanings{
      std::pair{"device_shared",
                "other processes use the device; profile again when they have ended, or name "
                "another device in a new run"},
      std::pair{kClockUnknown,
                "the device does not tell its clock, so that throttling goes unseen; compare only "
                "what was timed in one call"},
      std::pair{kNoiseAboveThreshold,
                "the noise floor is above the 0.5 % that runs ask for: smaller differences stay "
                "inconclusive; a quieter machine or larger dims resolve more"},
      std::pair{"bimodal",
                "a minority of the calls is slow, so that medians and means disagree: no verdict; "
                "the version's ncu_summary.md shows both"},
      std::pair{"throttled",
                "samples of a lower clock were dropped; profile again when the device is cooler"},
      std::pair{"cores_held", "neighbors held the cores; profile again when they have ended"},
      std::pair{"warm_when_timed",
                "it reads less from memory than its inputs when timed: a cache outlives the flush"},
      std::pair{
          "implausibly_fast",
          "faster than all of its tensors can be moved, also on other inputs; declare work if "
          "it needs only a part"},
      std::pair{"ceilings_measured_again",
                "it seemed faster than the device can be, so that the roofs were measured again"},
      std::pair{"own_noise",
                "two processes of this kernel differ beyond the noise, as where its memory lies "
                "matters to it: gains below three times that are not told"},
      std::pair{"tracing_bias",
                "a call launches several kernels, and recording them may be more than 2 % of its "
                "time, or of that of a version with more (tracing_ns): a gain by fewer kernels "
                "within that is not told"},
      std::pair{"few_samples", "too few rounds for an interval; give seconds"},
      std::pair{"power_limited",
                "power or heat held the clock (clock_mhz) below 90 % of the "
                "device's highest (device_clock_mhz), for all versions alike"}};
  const auto known =
      std::ranges::find(kMeanings, flag, [](const auto& one) { return std::string(one.first); });
  return known == kMeanings.end() ? flag : fmt::format("{}: {}", flag, known->second);
}

std::string text_of(const TimingLine& line) {
  std::string text =
      fmt::format("time: {} (95 % interval {} … {}, {} samples)\n", time_text(line.median.value),
                  time_text(line.ci_low.value), time_text(line.ci_high.value), line.samples);
  text += fmt::format("verdict: {}", name_of(line.verdict));
  if (line.speedup_vs_parent)
    text +=
        fmt::format(", {}x parent ({} … {})", three_digits(*line.speedup_vs_parent),
                    three_digits(line.speedup_ci->front()), three_digits(line.speedup_ci->back()));
  if (line.speedup_vs_v0 && line.best != "v0")
    text += fmt::format(", {}x v0", three_digits(*line.speedup_vs_v0));
  if (line.best)
    text +=
        fmt::format(", {}x {}, the best version before: {}", three_digits(*line.speedup_vs_best),
                    *line.best, name_of(*line.verdict_vs_best));
  text += "\n";
  if (line.seconds_to_decide)
    text += fmt::format("undecided: about {} s of timing would decide (seconds)\n",
                        three_digits(*line.seconds_to_decide));
  for (const auto& flag : line.flags) text += "caveat: " + caveat(flag) + "\n";
  return text;
}

struct ProfileAnswer : RunView, TimedProfile {
  TimingLine line;
  std::vector<Cure> code;

  static constexpr void fields(auto&& visit) {
    using A = ProfileAnswer;
    RunView::fields(visit);
    visit(required("timing", &A::line, "Cold-cache time with interval and verdict."),
          required<&A::bound>("What limits the kernel."),
          required<&A::bound_evidence>("The numbers behind it."),
          required<&A::findings>("Diagnosis, most headroom first."),
          required<&A::code>("Code that cures findings, for this language and chip."),
          required<&A::roofline>("Position under the measured roofs."),
          required<&A::metrics>("Metrics that every device has."),
          required<&A::kernels>("Hardware counters per kernel."),
          optional<&A::hotspots>("Where warps wait; only with metrics stalls."),
          required<&A::engine>("cupti, ncu, perf_event or none."),
          optional<&A::report>("The report of ncu, an artifact."),
          required<&A::exceptions>("Sandbox rules that were lifted for ncu."),
          required<&A::unknown_metrics>("Requested counters that this device does not have."),
          required<&A::reasons>("Why the measurement is invalid."),
          optional<&A::time_depends_on_values>("The range of times, if values change it."),
          optional<&A::search>("As in check_correctness."),
          optional<&A::fault>("The failure of the kernel itself."),
          optional<&A::counted_together>("Why all launches of a call were counted as one."),
          required<&A::spent>("As in check_correctness."),
          required<&A::degraded>("Hardware counters are missing."),
          optional<&A::degraded_reason>("Why they are missing and how to fix it."));
  }
  [[nodiscard]] std::string text(Json answer) const {
    for (const char* key : {"timing", "spent"}) answer.erase(key);
    // What the metrics say already.
    for (const char* twin :
         {"achieved_bytes_per_s", "achieved_flops_per_s", "bandwidth_fraction", "compute_fraction"})
      answer["roofline"].erase(twin);
    for (auto& finding : answer["findings"]) {  // its evidence begins with both
      finding.erase("outcome");
      finding.erase("intervention");
    }
    if (!degraded) answer.erase("degraded");
    for (const char* list :
         {"findings", "code", "kernels", "exceptions", "unknown_metrics", "reasons"})
      if (answer[list].empty()) answer.erase(list);
    return text_of(line) +
           readable_text(answer, {"fault", "reasons", "bound", "bound_evidence", "findings", "code",
                                  "metrics", "roofline"}) +
           spent_line(spent);
  }
};

TimingLine line_of(const Profile& profile) {
  const Timing& t = profile.timing;
  TimingLine line{.median = t.median,
                  .ci_low = t.ci_low,
                  .ci_high = t.ci_high,
                  .samples = t.samples,
                  .discarded = t.discarded,
                  .verdict = profile.verdict,
                  .tracing_ns = t.tracing_ns,
                  .flags = t.flags};
  if (t.has_flag("power_limited")) {
    line.clock = t.clock;
    line.device_clock = t.device_clock;
  }
  for (const auto& comparison : profile.comparisons) {
    for (const auto& flag : comparison.flags.value_or(std::vector<std::string>{}))
      if (std::ranges::find(line.flags, flag) == line.flags.end()) line.flags.push_back(flag);
    if (comparison.against == "parent") {
      line.speedup_vs_parent = comparison.speedup;
      line.speedup_ci = {{comparison.ci_low, comparison.ci_high}};
    }
    if (comparison.against == "v0") line.speedup_vs_v0 = comparison.speedup;
    if (profile.best_version && comparison.version == profile.best_version) {
      line.best = profile.best_version;
      line.speedup_vs_best = comparison.speedup;
      line.verdict_vs_best = comparison.verdict;
    }
    if (comparison.seconds_to_decide)
      line.seconds_to_decide =
          std::max(line.seconds_to_decide.value_or(0), *comparison.seconds_to_decide);
  }
  return line;
}

const Candidate* pointer_to(const std::optional<Candidate>& candidate) {
  return candidate ? &*candidate : nullptr;
}

/// Says which version took part as the best one; it may be the parent or v0.
void name_versions(const Permit& permit, Profile& profile) {
  if (!permit.best_version) return;
  profile.best_version = permit.best_version->text();
  const char* const against = permit.best                                     ? "best"
                              : permit.best_version->number == 0 && permit.v0 ? "v0"
                                                                              : "parent";
  for (auto& comparison : profile.comparisons)
    if (comparison.against == against) comparison.version = profile.best_version;
}

/// A single word that names a metric set selects it; anything else is a list of counter names.
void choose(const std::vector<std::string>& metrics, ProfileRequest& request) {
  if (metrics.size() == 1)
    for (const auto& [set, name] : enum_names(MetricSet{}))
      if (metrics.front() == name) {
        request.metrics = set;
        return;
      }
  request.names = metrics;
}

}  // namespace

Tool profile_kernel(const Services& services) {
  return make_tool<ProfileArgs, ProfileAnswer>(
      {.name = "profile_kernel",
       .summary = "Time the open version against its parent, v0 and the best (interleaved, cold "
                  "caches), count, diagnose and place it under the roofline.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop},
      [services](const ProfileArgs& args, CallContext& call) -> Result<ProfileAnswer> {
        auto permit = services.runs.permit(args.run, Event::profiled);
        if (!permit) return permit.error();
        if (args.search && !permit->parent && !permit->v0)
          return invalid_argument(
              "search: v0 is compared with nothing, so that no time on other values says anything",
              "Leave it out, or give it to a later version; check_correctness takes it here, too.");
        ProfileRequest request{.candidate = pointer_to(permit->candidate),
                               .parent = pointer_to(permit->parent),
                               .v0 = pointer_to(permit->v0),
                               .best = pointer_to(permit->best),
                               .seconds = args.seconds,
                               .search = args.search};
        if (args.metrics) choose(args.metrics->values, request);
        request.engine = args.engine;
        request.verify = args.verify;
        auto profile = services.lab.profile(permit->contract, request, permit->secret, call);
        if (!profile) return profile.error();
        name_versions(*permit, *profile);
        Stopwatch watch;
        watch.add(std::move(profile->spent));
        watch.begin("recording");
        auto view = services.runs.record_profile(*permit, *profile);
        if (!view) return view.error();
        auto situation = services.runs.query_situation(args.run);
        if (!situation) return situation.error();
        auto code = services.knowledge.cures(*situation);
        if (!code) return code.error();
        profile->spent = watch.stop();
        return ProfileAnswer{*std::move(view), *profile, line_of(*profile), *std::move(code)};
      });
}

}  // namespace ratchet
