#include "kernels/diagnosis/verification.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet {
namespace {

/// What a finding claims, by which interventions can speak about it.
enum class Claim {
  removable,       ///< a cause that other data, or another build, takes away
  fixed_cost,      ///< a cost per call that does not depend on the sizes
  idle_device,     ///< too few blocks
  idle_processors  ///< too few threads
};

/// A finding that interventions speak about, and the class that it stands for.
struct Testable {
  std::string_view id;
  Bound bound;
  Claim claim = Claim::removable;
  bool warm_caches = false;       ///< its cause goes where the caches hold the data
  bool indices_in_order = false;  ///< … where indices ascend
  bool more_blocks = false;       ///< … where one block more is resident
  bool hidden_latency = false;    ///< resident blocks hide its cause
  bool no_vectors = false;        ///< its cause goes where the compiler uses vectors
  bool fixed_order = false;       ///< … where arithmetic has no fixed order
  bool has_other_causes = false;  ///< … which stay then: nothing refutes it
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
             .indices_in_order = true,
             .hidden_latency = true,
             .has_other_causes = true},  // chains of loads also wait for L2
    Testable{.id = "low-achieved-occupancy",
             .bound = Bound::occupancy,
             .more_blocks = true,
             .hidden_latency = true},
    Testable{.id = "small-grid", .bound = Bound::occupancy, .claim = Claim::idle_device},
    Testable{.id = "launch-bound", .bound = Bound::launch, .claim = Claim::fixed_cost},
    Testable{.id = "host-memory-bandwidth", .bound = Bound::memory, .warm_caches = true},
    Testable{.id = "host-cache-miss",
             .bound = Bound::latency,
             .warm_caches = true,
             .indices_in_order = true},
    Testable{.id = "host-strided-access", .bound = Bound::latency, .warm_caches = true},
    Testable{.id = "host-thread-overhead", .bound = Bound::launch, .claim = Claim::fixed_cost},
    Testable{.id = "host-interpreter", .bound = Bound::launch, .claim = Claim::fixed_cost},
    Testable{
        .id = "host-single-thread", .bound = Bound::occupancy, .claim = Claim::idle_processors},
    Testable{.id = "host-scalar-loop", .bound = Bound::compute, .no_vectors = true},
    Testable{.id = "host-math-calls", .bound = Bound::compute, .no_vectors = true},
    Testable{.id = "host-divisions", .bound = Bound::compute, .fixed_order = true},
    Testable{.id = "host-dependency-chain", .bound = Bound::latency, .fixed_order = true},
};

constexpr std::string_view kPrefix = "pattern-";

// Of a time that is proportional to one of its sizes, half of that size saves half.
constexpr double kFixedBelow = 0.15;
constexpr double kProportionalFrom = 0.35;

bool removes(const Intervention& one, const Testable& finding) {
  return (one.condition == Condition::warm_caches && finding.warm_caches) ||
         (one.condition == Condition::indices_in_order && finding.indices_in_order) ||
         (one.condition == Condition::register_cap && finding.more_blocks) ||
         (one.condition == Condition::any_order &&
          (finding.fixed_order || (finding.no_vectors && one.more_vectors)));
}

bool is_plural(const Intervention& one) {
  return one.condition == Condition::warm_caches || one.condition == Condition::indices_in_order ||
         one.condition == Condition::fewer_blocks || one.condition == Condition::fewer_processors;
}

/// "what saves 41 % (39..43)", or what it costs if that is what an intervention is for.
std::string figures(const Intervention& one, std::string_view only = "") {
  const bool costs = one.condition == Condition::fewer_processors ||
                     (one.condition == Condition::fewer_blocks && one.saved < 0);
  const auto percent = [costs](double share) {
    return std::round(costs ? -100 * share : 100 * share) + 0.0;  // not "-0"
  };
  return fmt::format("{} {}{}{} {:.0f} % ({:.0f}..{:.0f}){}{}", one.what, costs ? "cost" : "save",
                     is_plural(one) ? "" : "s", only, percent(one.saved),
                     percent(costs ? one.high : one.low), percent(costs ? one.low : one.high),
                     one.doubt.empty() ? "" : ", ", one.doubt);
}

struct Tested {
  FindingOutcome outcome = FindingOutcome::undecided;
  const Intervention* by = nullptr;
  std::string figures;
  std::optional<double> headroom = std::nullopt;  ///< measured: it replaces the estimate
};

/// Integers need not be indices, and accesses that follow none stay as they are.
bool refutes(const Intervention& one, const Testable& finding) {
  return removes(one, finding) && one.refutes && one.high < kNotConfirmedBelow &&
         one.condition != Condition::indices_in_order && !finding.has_other_causes;
}

/// By the intervention that saves most of those that remove the cause.
std::optional<Tested> removed(std::span<const Intervention> all, const Testable& finding) {
  const Intervention* best = nullptr;
  for (const auto& one : all)
    if (removes(one, finding) && (best == nullptr || one.saved > best->saved)) best = &one;
  if (best == nullptr) return std::nullopt;
  if (best->low >= kConfirmedFrom)
    // The share of a smaller size is not that of the finding's.
    return Tested{FindingOutcome::confirmed, best, figures(*best),
                  best->other_size ? std::nullopt : std::optional(best->saved)};
  if (best->high < kNotConfirmedBelow)
    for (const auto& one : all)
      if (refutes(one, finding))
        return Tested{FindingOutcome::not_confirmed, &one, figures(one), one.saved};
  return Tested{FindingOutcome::undecided, best, figures(*best)};
}

/// By half of the resident blocks. What hides latency at all does so with ever less gain: where the
/// second half brings nothing, more would not either. That it brings something does not say that
/// more would.
std::optional<Tested> hidden(std::span<const Intervention> all, const Testable& finding) {
  const auto fewer = std::ranges::find(all, Condition::fewer_blocks, &Intervention::condition);
  if (!finding.hidden_latency || fewer == all.end()) return std::nullopt;
  if (fewer->high <= -kConfirmedFrom)
    return Tested{FindingOutcome::consistent, &*fewer, figures(*fewer)};
  if (fewer->low > -kNotConfirmedBelow && finding.more_blocks)
    return Tested{FindingOutcome::not_confirmed, &*fewer, figures(*fewer), 0.0};
  return Tested{FindingOutcome::undecided, &*fewer, figures(*fewer)};
}

/// What removes the cause decides; if it does not, or nothing does, occupancy may.
std::optional<Tested> removed_or_hidden(std::span<const Intervention> all,
                                        const Testable& finding) {
  auto first = removed(all, finding);
  if (first && first->outcome != FindingOutcome::undecided) return first;
  auto second = hidden(all, finding);
  return second && second->outcome != FindingOutcome::undecided ? second : first ? first : second;
}

/// By the halved dim that saves most.
std::optional<Tested> fixed_cost(std::span<const Intervention> all) {
  const Intervention* best = nullptr;
  for (const auto& one : all)
    if (one.condition == Condition::halved_dim && (best == nullptr || one.saved > best->saved))
      best = &one;
  if (best == nullptr) return std::nullopt;
  const double fixed = 1 - 2 * std::max(0.0, best->saved);
  if (best->high < kFixedBelow)
    return Tested{FindingOutcome::confirmed, best, figures(*best, " only"), fixed};
  if (best->low >= kProportionalFrom && best->refutes)
    return Tested{FindingOutcome::not_confirmed, best, figures(*best), fixed};
  return Tested{FindingOutcome::undecided, best, figures(*best)};
}

/// By the dims that take away half of the blocks: all that do must agree.
std::optional<Tested> idle_device(std::span<const Intervention> all) {
  const Intervention* least = nullptr;
  const Intervention* most = nullptr;
  for (const auto& one : all) {
    if (!one.halves_blocks) continue;
    if (least == nullptr || one.saved < least->saved) least = &one;
    if (most == nullptr || one.saved > most->saved) most = &one;
  }
  if (most == nullptr) return std::nullopt;
  if (most->high < kFixedBelow)
    return Tested{FindingOutcome::confirmed, most,
                  figures(*most, " only")};  // it says not how much
  if (least->low >= kProportionalFrom)
    return Tested{FindingOutcome::not_confirmed, least, figures(*least), 0.0};
  return Tested{FindingOutcome::undecided, most, figures(*most)};
}

/// By half of the processors.
std::optional<Tested> idle_processors(std::span<const Intervention> all) {
  const auto fewer = std::ranges::find(all, Condition::fewer_processors, &Intervention::condition);
  if (fewer == all.end()) return std::nullopt;
  if (fewer->low > -kNotConfirmedBelow)
    return Tested{FindingOutcome::consistent, &*fewer, figures(*fewer, " only")};
  if (fewer->high <= -kProportionalFrom)
    return Tested{FindingOutcome::not_confirmed, &*fewer, figures(*fewer), 0.0};
  return Tested{FindingOutcome::undecided, &*fewer, figures(*fewer)};
}

std::optional<Tested> claimed(std::span<const Intervention> all, const Testable& finding) {
  switch (finding.claim) {
    case Claim::fixed_cost:
      return fixed_cost(all);
    case Claim::idle_device:
      return idle_device(all);
    case Claim::idle_processors:
      return idle_processors(all);
    case Claim::removable:
      break;
  }
  return removed_or_hidden(all, finding);
}

/// What rests on an intervention whose times neighbors, throttling or a slow minority spoiled is
/// undecided.
std::optional<Tested> tested(std::span<const Intervention> all, const Testable& finding) {
  auto result = claimed(all, finding);
  if (result && !result->by->doubt.empty()) {
    result->outcome = FindingOutcome::undecided;
    result->headroom.reset();
  }
  return result;
}

std::string_view words_of(FindingOutcome outcome) {
  return outcome == FindingOutcome::not_confirmed ? "not confirmed" : name_of(outcome);
}

/// Confirmed first, not confirmed last.
int rank_of(const DiagnosisFinding& finding) {
  if (finding.outcome == FindingOutcome::confirmed) return 0;
  return finding.outcome == FindingOutcome::not_confirmed ? 2 : 1;
}

}  // namespace

void verify(std::span<const Intervention> interventions, Diagnosis& diagnosis) {
  const auto testable = [](const DiagnosisFinding& finding) {
    return std::ranges::find(kTestable, std::string_view(finding.id).substr(kPrefix.size()),
                             &Testable::id);
  };
  const bool vectors =
      std::ranges::any_of(interventions, [](const Intervention& one) { return one.more_vectors; });
  const auto any = [&](bool Testable::* quality) {
    return std::ranges::any_of(diagnosis.findings, [&](const DiagnosisFinding& finding) {
      const auto* const known = testable(finding);
      return known != kTestable.end() && known->*quality;
    });
  };
  const bool either = vectors && any(&Testable::no_vectors) && any(&Testable::fixed_order);
  for (auto& finding : diagnosis.findings) {
    const auto* const known = testable(finding);
    if (known == kTestable.end()) continue;
    auto result = tested(interventions, *known);
    if (!result) continue;
    if (either && (known->no_vectors || known->fixed_order) &&
        result->outcome == FindingOutcome::confirmed) {
      result->outcome = FindingOutcome::consistent;
      result->headroom.reset();
    }
    finding.outcome = result->outcome;
    finding.evidence =
        fmt::format("{}: {}; {}", words_of(result->outcome), result->figures, finding.evidence);
    finding.intervention = std::move(result->figures);
    if (result->headroom) finding.headroom = std::clamp(*result->headroom, 0.0, 1.0);
  }
  std::ranges::stable_sort(diagnosis.findings, {}, [](const DiagnosisFinding& one) {
    return std::pair(rank_of(one), -one.headroom);
  });
  if (!diagnosis.findings.empty() && rank_of(diagnosis.findings.front()) == 0) {
    const auto& first = diagnosis.findings.front();
    diagnosis.bound = testable(first)->bound;
    diagnosis.confidence = Confidence::high;
    diagnosis.bound_evidence = first.title + ", confirmed; " + diagnosis.bound_evidence;
  }
  for (const auto& one : interventions) diagnosis.bound_evidence += "; " + figures(one);
}

}  // namespace ratchet
