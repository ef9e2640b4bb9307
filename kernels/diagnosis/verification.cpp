#include "kernels/diagnosis/verification.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet {
namespace {

/// A finding that interventions speak about, and the class that it stands for.
struct Testable {
  std::string_view id;
  Bound bound;
  bool warm_caches = false;       ///< its cause goes where the caches hold the data
  bool indices_in_order = false;  ///< … where indices ascend
  bool fixed_cost = false;        ///< it claims a cost per call that does not depend on the sizes
};

constexpr std::array kTestable{
    Testable{.id = "dram-bound-latency",
             .bound = Bound::memory,
             .warm_caches = true,
             .indices_in_order = true},
    Testable{.id = "uncoalesced-loads", .bound = Bound::memory, .indices_in_order = true},
    Testable{.id = "partial-sector-stores", .bound = Bound::memory, .indices_in_order = true},
    Testable{.id = "latency-bound-loads",
             .bound = Bound::latency,
             .warm_caches = true,
             .indices_in_order = true},
    Testable{.id = "launch-bound", .bound = Bound::launch, .fixed_cost = true},
    Testable{.id = "host-memory-bandwidth", .bound = Bound::memory, .warm_caches = true},
    Testable{.id = "host-cache-miss",
             .bound = Bound::latency,
             .warm_caches = true,
             .indices_in_order = true},
    Testable{.id = "host-strided-access", .bound = Bound::latency, .warm_caches = true},
    Testable{.id = "host-thread-overhead", .bound = Bound::launch, .fixed_cost = true},
    Testable{.id = "host-interpreter", .bound = Bound::launch, .fixed_cost = true},
};

constexpr std::string_view kPrefix = "pattern-";

// Of a time that is proportional to one of its sizes, half of that size saves half.
constexpr double kFixedBelow = 0.15;
constexpr double kProportionalFrom = 0.35;

bool is_halving(const Intervention& one) {
  return one.what.ends_with(" halved");
}

bool speaks(const Intervention& one, const Testable& finding) {
  return (one.what == "warm caches" && finding.warm_caches) ||
         (one.what == "indices in order" && finding.indices_in_order);
}

std::string_view verb_of(const Intervention& one) {
  return one.what == "warm caches" || one.what == "indices in order" ? "save" : "saves";
}

std::string figures(const Intervention& one, std::string_view verb) {
  return fmt::format("{} {} {:.0f} % ({:.0f}..{:.0f})", one.what, verb, 100 * one.saved,
                     100 * one.low, 100 * one.high);
}

enum class Outcome { confirmed, undecided, refuted };

struct Tested {
  Outcome outcome = Outcome::undecided;
  std::string text;
  double saved = 0;
};

Tested tested(Outcome outcome, const std::string& what, double saved) {
  const auto* const word = outcome == Outcome::confirmed ? "confirmed: "
                           : outcome == Outcome::refuted ? "not confirmed: "
                                                         : "undecided: ";
  return {outcome, word + what, saved};
}

/// By the intervention that saves most of those that remove the cause.
std::optional<Tested> removed(std::span<const Intervention> all, const Testable& finding) {
  const Intervention* best = nullptr;
  for (const auto& one : all)
    if (speaks(one, finding) && (best == nullptr || one.saved > best->saved)) best = &one;
  if (best == nullptr) return std::nullopt;
  const auto outcome = best->low >= kConfirmedFrom       ? Outcome::confirmed
                       : best->high < kNotConfirmedBelow ? Outcome::refuted
                                                         : Outcome::undecided;
  return tested(outcome, figures(*best, verb_of(*best)), best->saved);
}

/// By the halved dim that saves most.
std::optional<Tested> fixed_cost(std::span<const Intervention> all) {
  const Intervention* best = nullptr;
  for (const auto& one : all)
    if (is_halving(one) && (best == nullptr || one.saved > best->saved)) best = &one;
  if (best == nullptr) return std::nullopt;
  const auto outcome = best->high < kFixedBelow         ? Outcome::confirmed
                       : best->low >= kProportionalFrom ? Outcome::refuted
                                                        : Outcome::undecided;
  return tested(outcome, figures(*best, outcome == Outcome::confirmed ? "saves only" : "saves"),
                1 - 2 * std::max(0.0, best->saved));
}

}  // namespace

void verify(std::span<const Intervention> interventions, Diagnosis& diagnosis) {
  struct Held {
    DiagnosisFinding finding;
    Outcome outcome = Outcome::undecided;
    Bound bound = Bound::unknown;
  };
  std::vector<Held> all;
  for (auto& finding : diagnosis.findings) {
    Held held{std::move(finding)};
    const auto name = std::string_view(held.finding.id).substr(kPrefix.size());
    const auto* const known = std::ranges::find(kTestable, name, &Testable::id);
    const auto result = known == kTestable.end() ? std::nullopt
                        : known->fixed_cost      ? fixed_cost(interventions)
                                                 : removed(interventions, *known);
    if (result) {
      held.outcome = result->outcome;
      held.bound = known->bound;
      held.finding.evidence = result->text + "; " + held.finding.evidence;
      // What was measured replaces what was estimated.
      if (held.outcome != Outcome::undecided)
        held.finding.headroom = std::clamp(result->saved, 0.0, 1.0);
    }
    all.push_back(std::move(held));
  }
  std::ranges::stable_sort(
      all, {}, [](const Held& one) { return std::pair(one.outcome, -one.finding.headroom); });
  diagnosis.findings.clear();
  for (auto& one : all) diagnosis.findings.push_back(std::move(one.finding));
  if (!all.empty() && all.front().outcome == Outcome::confirmed) {
    diagnosis.bound = all.front().bound;
    diagnosis.confidence = Confidence::high;
    diagnosis.bound_evidence =
        diagnosis.findings.front().title + ", confirmed; " + diagnosis.bound_evidence;
  }
  for (const auto& one : interventions)
    diagnosis.bound_evidence += "; " + figures(one, verb_of(one));
}

}  // namespace ratchet
