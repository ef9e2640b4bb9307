#include <fmt/format.h>

#include <set>

#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct TuneArgs {
  RunId run;
  std::vector<VersionId> variants;

  static constexpr void fields(auto&& visit) {
    visit(required<&TuneArgs::run>(),
          required<&TuneArgs::variants>("Correct versions; the first is the fallback.",
                                        {.max_length = 8}));
  }
};

struct TuneAnswer : ArtifactAnswer {
  std::string verdict;
  std::vector<DispatchRoute> routes;
  std::vector<Reason> reasons;

  static constexpr void fields(auto&& visit) {
    using A = TuneAnswer;
    ArtifactAnswer::fields(visit);
    visit(required<&A::verdict>("accepted, single_variant, incorrect, slower or build_failed."),
          required<&A::routes>("Which variant serves which case."),
          required<&A::reasons>("Why it was not accepted."));
  }
};

/// Measures the variants on every case, routes cases to variants, and verifies the generated
/// dispatcher.
class Tuning {
 public:
  Tuning(Lab& lab, const Permit& permit, std::vector<Candidate> kernels, CallContext& call)
      : lab_(lab), permit_(permit), kernels_(std::move(kernels)), call_(call) {}

  Result<DispatchFact> run(const std::vector<VersionId>& variants) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      fact_.variants.push_back(variants[i].text());
      entrants_.push_back({variants[i].text(), &kernels_[i]});
    }
    fact_.fallback = fact_.variants.front();
    for (const auto& one : permit_.contract.cases) {
      if (one.hidden) continue;
      if (auto done = measure(one.dims); !done) return done.error();
    }
    bool several = false;
    for (const auto& choice : choices_) several = several || choice.variant != 0;
    fact_.verdict = "single_variant";
    if (several)
      if (auto done = verify(); !done) return done.error();
    return std::move(fact_);
  }

 private:
  Status measure(const Dims& dims) {
    call_.progress(0, std::nullopt, "timing all variants on a case");
    auto lines =
        lab_.race(permit_.contract, entrants_, {dims, std::nullopt}, permit_.secret, call_);
    if (!lines) return lines.error();
    if (!lines->front().timing)
      return unavailable(
          "variants: the kernel of the first version, which serves all other sizes, failed while "
          "it was being timed",
          "Put another version first.");
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < lines->size(); ++i) {
      auto& line = (*lines)[i];
      const bool wins = line.speedup && line.speedup->verdict == Verdict::faster;
      if (wins && (chosen == 0 || line.speedup->speedup > (*lines)[chosen].speedup->speedup))
        chosen = i;
      fact_.points.push_back({.dims = dims,
                              .variant = line.name,
                              .correct = line.reasons.empty(),
                              .timing = line.timing,
                              .comparison = line.speedup,
                              .reasons = line.reasons});
    }
    choices_.push_back({dims, chosen});
    fact_.routes.push_back({.dims = dims,
                            .variant = fact_.variants[chosen],
                            .why = chosen == 0 ? "no other variant is faster beyond the noise"
                                               : fmt::format("{:.3f}x the fallback",
                                                             (*lines)[chosen].speedup->speedup)});
    return {};
  }

  Status verify() {
    call_.progress(0, std::nullopt, "building the dispatcher");
    auto source = lab_.dispatcher(permit_.contract, entrants_, choices_);
    if (!source) return source.error();
    auto built = lab_.build(permit_.contract, *std::move(source), call_);
    if (!built) return built.error();
    fact_.dispatcher = *built;
    if (!built->build.ok) {
      fact_.verdict = "build_failed";
      for (const auto& error : built->build.errors) fact_.reasons.push_back(error.reason());
      return {};
    }
    auto report = lab_.check(permit_.contract, *built, permit_.secret, call_);
    if (!report) return report.error();
    fact_.reasons = report->reasons;
    fact_.verdict = report->passed ? "accepted" : "incorrect";
    if (!report->passed) return {};
    for (auto& route : fact_.routes)
      if (auto done = compare_with_fallback(route, *built); !done) return done;
    return {};
  }

  Status compare_with_fallback(DispatchRoute& route, const Candidate& dispatcher) {
    auto lines = lab_.race(permit_.contract, {entrants_.front(), {"dispatcher", &dispatcher}},
                           {route.dims, std::nullopt}, permit_.secret, call_);
    if (!lines) return lines.error();
    const auto& line = lines->back();
    route.dispatched = line.speedup;
    const bool slower = !line.speedup || line.speedup->verdict == Verdict::slower;
    if (!slower) return {};
    fact_.verdict = "slower";
    fact_.reasons.push_back({.code = "slower_than_fallback",
                             .message = line.reasons.empty()
                                            ? "the dispatching kernel is slower on a case than the "
                                              "variant that serves all sizes"
                                            : line.reasons.front().text()});
    return {};
  }

  Lab& lab_;
  const Permit& permit_;
  std::vector<Candidate> kernels_;
  CallContext& call_;
  std::vector<Entrant> entrants_;
  std::vector<DispatchChoice> choices_;
  DispatchFact fact_;
};

Result<TuneAnswer> tune(const Services& services, const TuneArgs& args, CallContext& call) {
  const std::set<VersionId> distinct(args.variants.begin(), args.variants.end());
  if (args.variants.size() < 2 || distinct.size() != args.variants.size())
    return invalid_argument(
        "variants: a dispatcher chooses between at least two versions, each named once",
        "run_status lists the correct versions.");
  auto permit = services.runs.permit(args.run, Event::tuned);
  if (!permit) return permit.error();
  auto kernels = services.runs.kernels_of(args.run, args.variants);
  if (!kernels) return kernels.error();
  auto fact = Tuning(services.lab, *permit, *std::move(kernels), call).run(args.variants);
  if (!fact) return fact.error();
  TuneAnswer answer;
  answer.verdict = fact->verdict;
  answer.routes = fact->routes;
  answer.reasons = fact->reasons;
  auto written = services.runs.record_dispatch(*permit, *std::move(fact));
  if (!written) return written.error();
  static_cast<ArtifactAnswer&>(answer) = *std::move(written);
  return answer;
}

}  // namespace

Tool tune_dispatch(const Services& services) {
  return make_tool<TuneArgs, TuneAnswer>(
      {.name = "tune_dispatch",
       .summary = "Time versions on every case, map them, and generate a checked dispatcher that "
                  "is never slower than the fallback.",
       .effect = Effect::uses_device,
       .toolset = Toolset::search,
       .builds = true},
      [services](const TuneArgs& args, CallContext& call) { return tune(services, args, call); });
}

}  // namespace ratchet
