// Races several versions of one kernel on one case, interleaved; generates dispatchers.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "kernels/lab/neighbors.h"
#include "kernels/source/size_dispatch.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();

RaceLine line_of(const SessionRecord& session, std::size_t own, const SessionPlan& plan,
                 DeviceKind kind) {
  const auto& record = session.contestants.at(own);
  RaceLine line{record.name, {}, {}, {}, record.reasons};
  if (!record.reasons.empty()) return line;
  if (auto timing = timing_of(session, own, plan)) line.timing = *std::move(timing);
  if (line.timing) (void)flag_resolution(kind, *line.timing);
  return line;
}

/// One line per contestant, with speed-ups that hold together.
std::vector<RaceLine> lines_of(const SessionRecord& session, const SessionPlan& plan,
                               DeviceKind kind, const Neighbors& neighbors) {
  std::vector<RaceLine> lines;
  for (std::size_t i = 0; i < session.contestants.size(); ++i) {
    lines.push_back(line_of(session, i, plan, kind));
    if (lines.back().timing) neighbors.note(*lines.back().timing);
  }
  if (!session.contestants.front().reasons.empty()) return lines;
  const auto speedups = challenges_of(session);
  if (!speedups) return lines;
  for (const auto& speedup : *speedups) {
    const auto line = std::ranges::find(lines, speedup.against, &RaceLine::name);
    if (line == lines.end()) continue;
    line->speedup = speedup;
    line->speedup->against = session.contestants.front().name;
    for (const auto& timing : {line->timing, lines.front().timing})
      if (timing) judge_resolution(*timing, *line->speedup);
    neighbors.note(*line->speedup);
    line->slowdown = inverted(*line->speedup, line->name);
    line->rounds = round_ratios(session, static_cast<std::size_t>(line - lines.begin()));
  }
  return lines;
}

}  // namespace

Result<SessionRecord> LabParts::session_of(const Contract& contract, const Dims& dims,
                                           const Versions& versions, const SessionPlan& plan,
                                           ProcessesAside& aside, std::string_view run_secret,
                                           const CallContext& call) {
  auto parts = reference_parts(contract);
  parts.spares = &aside.spares;
  auto source = ArenaSource::open(parts, contract, versions.size(), call);
  if (!source) return source.error();
  auto processes =
      start_all(contract, versions, call, {.spares = &aside.spares, .checked = &aside.checked});
  if (!processes) return processes.error();
  // Inputs that no session has used before.
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = source->arenas({.dims = dims}, secret, call);
  if (!arenas) return arenas.error();
  aside.spares.settle(call);
  aside.endings.wait();
  auto session = TimingSession(**arenas, plan).run(contestants_of(versions, *processes), call);
  arenas->reset();
  aside.endings.add(*std::move(source));
  for (auto& process : *processes) aside.endings.add(std::move(process));
  return session;
}

Result<std::vector<RaceLine>> Laboratory::race(const Contract& contract,
                                               const std::vector<Entrant>& entrants,
                                               const RacePlan& race, std::string_view run_secret,
                                               CallContext& call) {
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn) return turn.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  auto terms = judge_terms(contract);
  ProcessesAside aside;
  if (auto* const last = left_with(left, terms)) {
    aside = std::move(last->aside);
    aside.endings.add(std::move(last->judge));
  }
  left.reset();
  // What decides, decides on new processes.
  if (!race.samples) aside.endings.add(std::exchange(aside.checked, {}));
  Versions versions;
  for (const auto& entrant : entrants) versions.emplace_back(entrant.name, entrant.candidate);
  // A calibration times kernels, too.
  if (!race.samples && !noise_is_known(device->device)) {
    aside.spares.settle(call);
    aside.endings.wait();
  }
  // A race with a given number of samples only ranks, which takes no calibration.
  SessionPlan plan = session_plan(contract, device->device, !race.samples, call);
  plan.samples = race.samples;
  plan.sparing = true;
  plan.rivals = std::max(1, static_cast<int>(entrants.size()) - 1);
  Neighbors neighbors(device->device, call);
  const auto checked = aside.checked.size();
  auto session = session_of(contract, race.dims, versions, plan, aside, run_secret, call);
  const bool waited = aside.checked.size() < checked;
  const auto excluded = [](const ContestantRecord& one) { return !one.reasons.empty(); };
  const bool failed = !session || (waited && std::ranges::any_of(session->contestants, excluded));
  if (failed && (waited || aside.spares.served()) && !call.canceled()) {
    // The fault may be of a process that had waited: with new ones it counts.
    aside = {};
    session = session_of(contract, race.dims, versions, plan, aside, run_secret, call);
  }
  if (!session) return session.error();
  neighbors.look_again();
  if (race.ahead.any() && !DeviceQueue::wanted(*turn)) {
    const bool race_follows = !race.ahead.races.empty();
    aside.endings.add(std::exchange(aside.checked, {}));
    if (race_follows)
      start_ahead(contract, race.ahead, kNoLimit, aside);
    else
      aside.endings.add(std::exchange(aside.spares, {}));
    queue.leave(*turn, std::make_unique<JudgeLeft>(std::move(terms), IdleJudge{}, std::move(aside)),
                race_follows);
  }
  return lines_of(*session, plan, contract.device_kind, neighbors);
}

Result<Source> Laboratory::dispatcher(const Contract& contract,
                                      const std::vector<Entrant>& variants,
                                      const std::vector<DispatchChoice>& choices) {
  std::vector<Variant> texts;
  for (const auto& variant : variants)
    texts.push_back({variant.name, variant.candidate->source.text});
  std::vector<Route> routes;
  for (const auto& choice : choices) routes.push_back({choice.dims, choice.variant});
  auto text = dispatcher_source(contract, texts, routes, 0);
  if (!text) return text.error();
  return Source{contract.kernel.file_name, *std::move(text),
                variants.front().candidate->source.folder};
}

}  // namespace ratchet
