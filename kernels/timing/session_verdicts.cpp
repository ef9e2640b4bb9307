// What the record of a session says: times, and verdicts with the conditions they were found under.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/timing/timing_session.h"

namespace ratchet {
namespace {

/// How long a decision would take, from how long the session took.
void estimate(const SessionRecord& session, Comparison& comparison) {
  const auto rounds = rounds_to_decide(comparison);
  if (rounds && comparison.pairs > 0)
    comparison.seconds_to_decide = *rounds * session.elapsed_ms / 1000 / comparison.pairs;
}

/// What a comparison of `one` with `other` cannot know: throttling, time, neighbors and tracing.
void judge_conditions(const SessionRecord& session, const PairedSeries& series,
                      const ContestantRecord& one, const ContestantRecord& other,
                      Comparison& comparison) {
  estimate(session, comparison);
  judge_throttling(series, comparison);
  judge_neighbors(held_share(one.blocks), held_share(other.blocks), comparison);
  judge_tracing(tracing_share(one.blocks), tracing_share(other.blocks), comparison);
}

}  // namespace

Result<Comparison> comparison_of(const SessionRecord& session, std::size_t other) {
  const auto& candidate = session.contestants.front();
  const auto& opponent = session.contestants.at(other);
  const auto series = paired(candidate.blocks, opponent.blocks, session.discard_first);
  auto compared = compare(series.rounds, session.noise_floor, opponent.name, session.error_rate);
  if (compared) judge_conditions(session, series, candidate, opponent, *compared);
  return compared;
}

Result<std::vector<Comparison>> challenges_of(const SessionRecord& session) {
  std::vector<Rival> rivals;
  std::vector<PairedSeries> all;
  std::vector<const ContestantRecord*> challengers;
  const auto& incumbent = session.contestants.front();
  for (std::size_t i = 1; i < session.contestants.size(); ++i) {
    const auto& one = session.contestants[i];
    if (!one.reasons.empty()) continue;
    challengers.push_back(&one);
    all.push_back(paired(one.blocks, incumbent.blocks, session.discard_first));
    rivals.push_back({one.name, all.back().rounds, session.noise_floor});
  }
  auto compared = compare_all(rivals, session.error_rate);
  if (!compared) return compared;
  for (std::size_t i = 0; i < all.size(); ++i)
    judge_conditions(session, all[i], *challengers[i], incumbent, (*compared)[i]);
  return compared;
}

std::vector<double> round_ratios(const SessionRecord& session, std::size_t contestant) {
  const auto& first = session.contestants.front();
  const auto series =
      paired(first.blocks, session.contestants.at(contestant).blocks, session.discard_first);
  std::vector<double> ratios(first.blocks.size() / kBlocksOfRound, 0);
  for (std::size_t i = 0; i < series.rounds.size(); ++i)
    ratios.at(series.at[i]) =
        middle_of(series.rounds[i].other_ns) / middle_of(series.rounds[i].candidate_ns);
  return ratios;
}

Result<Timing> timing_of(const SessionRecord& session, std::size_t contestant,
                         const SessionPlan& plan) {
  const auto& blocks = session.contestants.at(contestant).blocks;
  const double seen = plan.noise ? plan.noise->clock_mhz.value_or(0) : 0;
  const double highest = std::max(seen, plan.max_clock_mhz.value_or(0));
  auto timing = summarize(blocks, plan.discard_first, plan.cache_mode, highest);
  if (!timing) return timing;
  if (highest > 0) timing->device_clock = Megahertz{highest};
  note_tracing(tracing_of(blocks), *timing);
  if (!session.stop_reason.empty()) timing->stop_reason = session.stop_reason;
  return timing;
}

std::optional<Reason> reason_of_spans(const std::vector<wire::CallSpan>& calls, double median_ns) {
  constexpr double kMostRatio = 1.5;
  constexpr double kAllowanceNs = 5'000;
  constexpr std::size_t kLeastCalls = 3;
  if (calls.size() < kLeastCalls) return std::nullopt;
  const auto [fewest, most] = std::ranges::minmax(calls, {}, &wire::CallSpan::launches);
  if (fewest.launches != most.launches)
    return Reason{"launches_vary",
                  fmt::format("one call launches {} kernels and another {}: calls do different "
                              "work",
                              fewest.launches, most.launches),
                  {}};
  std::vector<double> spans;
  for (const auto& one : calls) spans.push_back(one.span_ns);
  const double span = median_of(std::move(spans));
  if (span <= kMostRatio * median_ns + kAllowanceNs) return std::nullopt;
  return Reason{
      "span_exceeds_events",
      fmt::format("the work of a call spans {:.1f} µs over all streams, but only {:.1f} µs "
                  "were timed: the rest was hidden from the events",
                  span / 1000, median_ns / 1000),
      {}};
}

}  // namespace ratchet
