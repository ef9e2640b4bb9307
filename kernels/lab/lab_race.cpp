// Races several versions of one kernel on one case, interleaved; generates dispatchers.

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/lab/laboratory.h"
#include "kernels/source/size_dispatch.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

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
                               DeviceKind kind) {
  std::vector<RaceLine> lines;
  for (std::size_t i = 0; i < session.contestants.size(); ++i)
    lines.push_back(line_of(session, i, plan, kind));
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
    line->slowdown = inverted(*line->speedup, line->name);
  }
  return lines;
}

/// A process on a GPU takes a tenth of a second to end; its neighbors do so meanwhile.
void end_at_once(std::vector<CandidateProcess>& processes) {
  std::vector<std::jthread> threads;
  for (auto& process : processes) threads.emplace_back([&process] { (void)process.left_behind(); });
}

}  // namespace

Result<SessionRecord> LabParts::session_of(const Contract& contract, const Dims& dims,
                                           const Versions& versions, const SessionPlan& plan,
                                           std::string_view run_secret, const CallContext& call) {
  auto source = ArenaSource::open(reference_parts(contract), contract, versions.size(), call);
  if (!source) return source.error();
  auto processes = start_all(contract, versions, call);
  if (!processes) return processes.error();
  // Inputs that no session has used before.
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = source->arenas({.dims = dims}, secret, call);
  if (!arenas) return arenas.error();
  auto session = TimingSession(**arenas, plan).run(contestants_of(versions, *processes), call);
  end_at_once(*processes);
  return session;
}

Result<std::vector<RaceLine>> Laboratory::race(const Contract& contract,
                                               const std::vector<Entrant>& entrants,
                                               const RacePlan& race, std::string_view run_secret,
                                               CallContext& call) {
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  Versions versions;
  for (const auto& entrant : entrants) versions.emplace_back(entrant.name, entrant.candidate);
  // A race with a given number of samples only ranks, which takes no calibration.
  SessionPlan plan = session_plan(contract, device->device, !race.samples, call);
  plan.samples = race.samples;
  plan.sparing = true;
  plan.rivals = std::max(1, static_cast<int>(entrants.size()) - 1);
  auto session = session_of(contract, race.dims, versions, plan, run_secret, call);
  if (!session) return session.error();
  return lines_of(*session, plan, contract.device_kind);
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
