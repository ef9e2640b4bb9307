// Many versions of one kernel on one case, interleaved; and the dispatcher made of some.

#include <algorithm>
#include <utility>

#include "kernels/dispatcher.h"
#include "kernels/laboratory.h"

namespace ratchet {
namespace {

/// How much faster than the first a contestant is: the session as if it had come first.
Result<Comparison> against_first(const SessionRecord& session, std::size_t own) {
  SessionRecord turned;
  turned.stop_reason = session.stop_reason;
  turned.noise_floor = session.noise_floor;
  turned.contestants = {session.contestants.at(own), session.contestants.front()};
  return comparison_of(turned, 1);
}

RaceLine line_of(const SessionRecord& session, std::size_t own, const SessionPlan& plan) {
  const auto& record = session.contestants.at(own);
  RaceLine line{record.name, {}, {}, {}, record.reasons};
  if (!record.reasons.empty()) return line;
  if (auto timing = timing_of(session, own, plan)) line.timing = *std::move(timing);
  if (own == 0 || !session.contestants.front().reasons.empty()) return line;
  if (auto compared = against_first(session, own)) line.speedup = *std::move(compared);
  if (auto compared = comparison_of(session, own)) line.slowdown = *std::move(compared);
  return line;
}

}  // namespace

Result<std::vector<RaceLine>> Laboratory::race(const Contract& contract,
                                               const std::vector<Entrant>& entrants,
                                               const RacePlan& race, std::string_view run_secret,
                                               CallContext& call) {
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  Versions versions;
  for (const auto& entrant : entrants) versions.emplace_back(entrant.name, entrant.candidate);
  SessionPlan plan = session_plan(contract, device->device, call);
  plan.samples = race.samples;
  plan.rivals = std::max(1, static_cast<int>(entrants.size()) - 1);
  auto session = session_of(contract, race.dims, versions, plan, run_secret, call);
  if (!session) return session.error();
  std::vector<RaceLine> lines;
  for (std::size_t i = 0; i < session->contestants.size(); ++i)
    lines.push_back(line_of(*session, i, plan));
  return lines;
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
