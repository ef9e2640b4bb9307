#include "bench/time/replay.h"

#include <span>

namespace ratchet::bench {
namespace {

std::size_t rounds_of(const ContestantRecord& contestant) {
  return contestant.blocks.size() / kBlocksOfRound;
}

/// The noise floor by the former factor. Half of the points belong to each of the calibration's two
/// kernels.
double former_floor(const SessionPlan& plan, double now, double time_ns) {
  if (!plan.noise) return now;
  const auto points = static_cast<int>(plan.noise->points.size() / 2);
  auto narrower = *plan.noise;
  const double factor = kFormerSigmas / student_t(points, kNoiseRate / 2);
  narrower.relative *= factor;
  narrower.absolute_ns *= factor;
  return noise_floor_at(narrower, time_ns);
}

}  // namespace

Result<std::vector<Replayed>> replayed(const SessionRecord& recording, const SessionPlan& plan,
                                       std::size_t one, std::size_t other) {
  const auto& all = recording.contestants;
  const auto rounds = rounds_of(all.front());
  const double round_ms =
      recording.elapsed_ms / static_cast<double>(rounds) * 2 / static_cast<double>(all.size());
  std::vector<Replayed> sessions;
  SessionRecord session;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (session.contestants.empty())
      session.contestants = {{all[one].name, {}, {}}, {all[other].name, {}, {}}};
    for (std::size_t i = 0; i < kBlocksOfRound; ++i) {
      session.contestants[0].blocks.push_back(all[one].blocks[round * kBlocksOfRound + i]);
      session.contestants[1].blocks.push_back(all[other].blocks[round * kBlocksOfRound + i]);
    }
    session.elapsed_ms += round_ms;
    const bool over = round + 1 == rounds && rounds_of(session.contestants[0]) >= look_at(0).rounds;
    if (!over && !reason_to_stop(session, plan, session.elapsed_ms)) continue;
    conclude(session, plan);
    auto compared = comparison_of(session, 1);
    if (!compared) return compared.error();
    sessions.push_back({*std::move(compared), session.elapsed_ms});
    session = {};
  }
  return sessions;
}

std::vector<FormerEnd> replayed_formerly(const SessionRecord& recording, const SessionPlan& plan,
                                         std::size_t one, std::size_t other) {
  SessionRecord whole = recording;
  conclude(whole, plan);
  const auto& blocks = recording.contestants[one].blocks;
  const auto timing = summarize(blocks, plan.discard_first, plan.cache_mode);
  const double floor = former_floor(plan, whole.noise_floor, timing ? timing->median.value : 0);
  const auto series = paired(blocks, recording.contestants[other].blocks, plan.discard_first);
  std::span<const PairedRound> left(series.rounds);
  std::vector<FormerEnd> sessions;
  while (left.size() >= look_at(0).rounds) {
    sessions.push_back(former_session(left, floor));
    left = left.subspan(sessions.back().rounds);
  }
  return sessions;
}

}  // namespace ratchet::bench
