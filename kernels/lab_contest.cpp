// Several candidates against one incumbent.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "kernels/laboratory.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostCandidates = 8;
constexpr int kScreeningSamples = 60;  // enough to rank by a few per cent

void note_timing(const SessionRecord& session, std::size_t contestant, const SessionPlan& plan,
                 ContestRow& row) {
  const auto& record = session.contestants[contestant];
  if (!record.reasons.empty()) {
    row.status = "failed";
    row.detail = record.reasons.front().message;
    return;
  }
  auto timing = timing_of(session, contestant, plan);
  if (timing) row.timing = *std::move(timing);
}

Error incumbent_failed(const SessionRecord& session) {
  return Error{ErrorCode::invalid_argument,
               "the incumbent itself failed while it was timed: " +
                   session.contestants.front().reasons.front().message,
               "Check it again with check_correctness."};
}

/// The candidates that go on, by the screening's speed-ups, fastest first.
std::vector<std::size_t> best_of(const std::vector<ContestRow>& rows, int most) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return rows[i].status == "failed"; });
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return rows[a].screened > rows[b].screened; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(1, most))));
  return order;
}

std::optional<int> champion_of(const std::vector<ContestRow>& rows) {
  std::optional<int> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& confirmed = rows[i].confirmed;
    if (!confirmed || confirmed->verdict != Verdict::faster) continue;
    if (!best || confirmed->speedup > rows[static_cast<std::size_t>(*best)].confirmed->speedup)
      best = static_cast<int>(i);
  }
  return best;
}

}  // namespace

Result<SessionRecord> Laboratory::session_of(const Contract& contract, const Versions& versions,
                                             const SessionPlan& plan, std::string_view run_secret,
                                             const CallContext& call) {
  auto judge = Judge::open(parts(contract), contract, call);
  if (!judge) return judge.error();
  auto processes = start_all(contract, versions, call);
  if (!processes) return processes.error();
  // Inputs that no session before had.
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = TimedArenas::make(**judge, contract, contract.cases.front().dims, secret,
                                  versions.size(), call);
  if (!arenas) return arenas.error();
  return TimingSession(*arenas, plan).run(contestants_of(versions, *processes), call);
}

Result<ContestReport> Laboratory::contest(const Contract& contract, const ContestRequest& request,
                                          std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  if (request.candidates.empty() || request.candidates.size() > kMostCandidates)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("candidates: {} given, 1 to {} can be compared in one call",
                             request.candidates.size(), kMostCandidates),
                 "Compare the most promising ones."};
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  SessionPlan plan = session_plan(contract, device->device, call);
  ContestReport report;
  report.rows.resize(request.candidates.size());
  for (auto& row : report.rows) row.status = "screened";
  if (auto done = screen(contract, request, plan, run_secret, report, call); !done)
    return done.error();
  if (auto done = confirm(contract, request, plan, run_secret, report, call); !done)
    return done.error();
  report.champion = champion_of(report.rows);
  report.elapsed_ms =
      std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
  return report;
}

/// Ranks the candidates, where there is anything to choose.
Status Laboratory::screen(const Contract& contract, const ContestRequest& request, SessionPlan plan,
                          std::string_view run_secret, ContestReport& report,
                          const CallContext& call) {
  if (request.candidates.size() <= static_cast<std::size_t>(std::max(1, request.confirm)))
    return {};
  plan.samples = kScreeningSamples;
  Versions versions{{"incumbent", request.incumbent}};
  for (std::size_t i = 0; i < request.candidates.size(); ++i)
    versions.emplace_back(fmt::format("candidate {}", i), request.candidates[i]);
  auto session = session_of(contract, versions, plan, run_secret, call);
  if (!session) return session.error();
  if (!session->contestants.front().reasons.empty()) return incumbent_failed(*session);
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    auto& row = report.rows[i];
    note_timing(*session, i + 1, plan, row);
    const auto compared = comparison_of(*session, i + 1);
    if (compared && row.status != "failed") row.screened = 1 / compared->speedup;
  }
  return {};
}

Status Laboratory::confirm(const Contract& contract, const ContestRequest& request,
                           SessionPlan plan, std::string_view run_secret, ContestReport& report,
                           const CallContext& call) {
  const auto chosen = best_of(report.rows, std::max(1, request.confirm));
  Versions versions{{"incumbent", request.incumbent}};
  for (const auto i : chosen)
    versions.emplace_back(fmt::format("candidate {}", i), request.candidates[i]);
  plan.rivals = std::max(1, static_cast<int>(chosen.size()));
  auto session = session_of(contract, versions, plan, run_secret, call);
  if (!session) return session.error();
  if (!session->contestants.front().reasons.empty()) return incumbent_failed(*session);
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  report.incumbent = *std::move(timing);
  auto compared = challenges_of(*session);
  if (!compared) return compared.error();
  auto next = compared->begin();
  for (std::size_t place = 0; place < chosen.size(); ++place) {
    auto& row = report.rows[chosen[place]];
    row.status = "confirmed";
    note_timing(*session, place + 1, plan, row);
    if (row.status == "failed") continue;
    row.confirmed = *next++;
    row.confirmed->against = "incumbent";
  }
  return {};
}

}  // namespace ratchet
