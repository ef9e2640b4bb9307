#include "server/runs/rules/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "server/facts/order_statistics.h"
#include "server/runs/records/method_registry.h"

namespace ratchet {
namespace {

const AblatedBuild* build_without(const AblationFact& fact, std::set<std::string> ids) {
  const auto found = std::ranges::find_if(fact.builds, [&](const AblatedBuild& build) {
    return std::set<std::string>(build.without.begin(), build.without.end()) == ids;
  });
  return found == fact.builds.end() ? nullptr : &*found;
}

/// The time without some methods ÷ that of the whole kernel, with its interval.
struct Slowdown {
  double middle = 1, low = 1, high = 1;
};

std::optional<Slowdown> slowdown_of(const AblatedBuild* build) {
  if (build == nullptr || !build->correct || !build->comparison) return std::nullopt;
  const auto& paired = *build->comparison;
  return Slowdown{paired.speedup, paired.ci_low, paired.ci_high};
}

/// A build with the factor by which it counts in a sum.
struct Weighted {
  const AblatedBuild* build;
  double factor;
};

/// The sum of the builds' times, in whole kernels, and of `whole` of these: the median of what the
/// rounds say of it, with its interval. Empty without rounds that all of them have.
std::optional<Slowdown> over_rounds(const std::vector<Weighted>& builds, double whole) {
  std::vector<double> sums;
  const auto count = builds.front().build->rounds.size();
  for (std::size_t i = 0; i < count; ++i) {
    double sum = whole;
    bool complete = true;
    for (const auto& [build, factor] : builds) {
      const double time = i < build->rounds.size() ? build->rounds[i] : 0;
      complete = complete && time > 0;
      sum += factor * time;
    }
    if (complete) sums.push_back(sum);
  }
  if (sums.empty()) return std::nullopt;
  std::ranges::sort(sums);
  const auto interval = median_interval(sums);
  if (!interval.real) return std::nullopt;
  return Slowdown{sorted_quantile(sums, 0.5), interval.low, interval.high};
}

/// A method that saves less has no effect.
constexpr double kLeastEffect = 0.01;

struct Verdict3 {
  MethodClass verdict;
  std::string why;
};

/// The verdict if the machine code alone decides it.
std::optional<Verdict3> by_signature(const std::string& id, const AttributionContext& context) {
  const auto* const method = find_method(id);
  if (!context.on_gpu || method == nullptr || !method->has_signature) return std::nullopt;
  const auto found = context.signatures.find(id);
  if (found == context.signatures.end() || found->second == "unknown")
    return Verdict3{
        MethodClass::inconclusive,
        "whether the method is in the machine code is unknown: call check_sass, then ablate again"};
  if (found->second == "absent")
    return Verdict3{MethodClass::implementation_failed, "the machine code does not show it"};
  return std::nullopt;
}

Verdict3 by_time(const AblatedBuild* without, const AblationFact& fact,
                 const AttributionContext& context) {
  if (without == nullptr || !without->build.ok)
    return {MethodClass::inconclusive, "the kernel without it does not build"};
  if (without->build.binary_digest == fact.candidate_digest)
    return {MethodClass::inconclusive, "its macro switches nothing off: same binary"};
  if (!without->correct)
    return {MethodClass::inconclusive,
            "the kernel without it is not correct, so its time is meaningless"};
  if (!without->comparison || without->comparison->verdict == Verdict::inconclusive)
    return {MethodClass::inconclusive, "the interval is too wide to tell"};
  if (without->comparison->verdict == Verdict::slower)
    return {MethodClass::ineffective, "the kernel is faster without it"};
  if (without->comparison->verdict != Verdict::faster) {
    if (without->comparison->ci_high < 1 + kLeastEffect)
      return {MethodClass::ineffective, "removing it makes less than 1 % of difference"};
    return {MethodClass::inconclusive,
            fmt::format("removing it may cost up to {:.1f} %: too little to tell from noise, too "
                        "much to call it nothing",
                        100 * (without->comparison->ci_high - 1))};
  }
  if (!context.improved)
    return {MethodClass::ineffective, "it helps this kernel, which is not faster than its parent"};
  return {MethodClass::effective, "the kernel without it is slower beyond the noise"};
}

/// What a method saves where the others are off, in whole kernels.
std::optional<Slowdown> alone_of(const AblationFact& fact, const AblatedBuild* without_all,
                                 std::set<std::string> others, const std::string& id) {
  const auto none = slowdown_of(without_all);
  if (!none) return std::nullopt;
  others.erase(id);
  if (others.empty()) return Slowdown{none->middle - 1, none->low - 1, none->high - 1};
  const auto* const without_others = build_without(fact, others);
  const auto alone = slowdown_of(without_others);
  if (!alone) return std::nullopt;
  if (auto difference = over_rounds({{without_all, 1}, {without_others, -1}}, 0)) return difference;
  return Slowdown{none->middle - alone->middle, none->low - alone->high, none->high - alone->low};
}

}  // namespace

void attribute(AblationFact& fact, const std::vector<std::string>& methods,
               const AttributionContext& context) {
  fact.attribution.clear();
  fact.interaction_ns.reset();
  fact.interaction_low_ns.reset();
  fact.interaction_high_ns.reset();
  const std::set<std::string> all(methods.begin(), methods.end());
  const double whole = fact.whole.median.value;
  const auto* const without_all = build_without(fact, all);
  const auto none = slowdown_of(without_all);
  Slowdown sum{0, 0, 0};
  std::vector<Weighted> parts{{without_all, 1}};
  for (const auto& id : methods) {
    MethodAttribution one;
    one.id = id;
    const auto* const without = build_without(fact, {id});
    if (const auto slowdown = slowdown_of(without)) {
      one.delta_ns = (slowdown->middle - 1) * whole;
      one.delta_low_ns = (slowdown->low - 1) * whole;
      one.delta_high_ns = (slowdown->high - 1) * whole;
      sum.middle += slowdown->middle - 1;
      sum.low += slowdown->low - 1;
      sum.high += slowdown->high - 1;
      parts.push_back({without, -1});
    }
    if (const auto alone = alone_of(fact, without_all, all, id)) {
      one.alone_ns = alone->middle * whole;
      one.alone_low_ns = alone->low * whole;
      one.alone_high_ns = alone->high * whole;
    }
    auto verdict = by_signature(id, context);
    if (!verdict) verdict = by_time(without, fact, context);
    one.verdict = verdict->verdict;
    one.why = std::move(verdict->why);
    fact.attribution.push_back(std::move(one));
  }
  if (!none || parts.size() != methods.size() + 1) return;
  auto interaction = over_rounds(parts, static_cast<double>(methods.size()) - 1);
  if (!interaction)
    interaction =
        Slowdown{none->middle - 1 - sum.middle, none->low - 1 - sum.high, none->high - 1 - sum.low};
  fact.interaction_ns = interaction->middle * whole;
  fact.interaction_low_ns = interaction->low * whole;
  fact.interaction_high_ns = interaction->high * whole;
}

}  // namespace ratchet
