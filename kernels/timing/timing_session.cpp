#include "kernels/timing/timing_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/judge/judge.h"
#include "kernels/judge/verdicts.h"
#include "server/core/clock.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Short, because many rounds reveal more than long ones; long compared with a message and the first
// call.
constexpr double kBlockMs = 5;
constexpr int kMostInBlock = 12;
constexpr int kRoundsOfFixed = 10;  // a given number of samples is split into this many rounds
// New contents and checks may each take a quarter of the sampling time.
constexpr double kRest = 4;
constexpr double kPatience = 4;  // times the limit, for kernels too slow for enough rounds in it
constexpr double kBlockLimitMs = 60'000;
constexpr double kLastCallsShare = 0.05;  // of the time limit, for calls that are only judged
// So many times slower is beyond any noise, and a call that fills a block is worth sparing.
constexpr double kDistant = 4;

std::size_t rounds_of(const ContestantRecord& record) {
  return record.blocks.size() / kBlocksOfRound;
}

/// Of one verdict, if all looks are taken together.
double rate_of_one(const SessionPlan& plan) {
  return plan.error_rate / plan.rivals;
}

/// Of the verdicts of a session that ends now. With a fixed number of samples there is a single
/// look.
double error_rate_after(std::size_t rounds, const SessionPlan& plan) {
  return plan.samples ? plan.error_rate
                      : plan.error_rate * look_after(rounds, rate_of_one(plan)).share;
}

/// The first contestant; if that is distant, one whose rounds are whole.
const ContestantRecord& steady(const std::vector<ContestantRecord>& contestants) {
  const auto found = std::ranges::find_if(
      contestants, [](const ContestantRecord& one) { return !one.distant && one.reasons.empty(); });
  return found == contestants.end() ? contestants.front() : *found;
}

double noise_floor_of(const std::vector<ContestantRecord>& contestants, const SessionPlan& plan) {
  if (plan.noise) {
    const auto timing = summarize(contestants.front().blocks, plan.discard_first, plan.cache_mode);
    const double time = timing ? timing->median.value : 0;
    return std::max(plan.least_noise, noise_floor_at(*plan.noise, time));
  }
  const auto& record = steady(contestants);
  std::vector<PairedRound> whole;  // the first block of a round against the second
  for (std::size_t i = 0; i + 1 < record.blocks.size(); i += kBlocksOfRound)
    whole.push_back({record.blocks[i].elapsed_ns, record.blocks[i + 1].elapsed_ns});
  const auto seen = calibrate_noise(whole);  // with too few rounds the plan's value is used
  return std::max(plan.least_noise, seen ? *seen : 0.0);
}

bool precise(const ContestantRecord& record, const SessionPlan& plan) {
  const auto timing = summarize(record.blocks, plan.discard_first, plan.cache_mode);
  return timing && precise_enough(*timing, plan.target);
}

/// Whether more rounds would change no verdict.
bool decided(const std::vector<ContestantRecord>& contestants, const SessionPlan& plan) {
  const auto& first = contestants.front();
  const double floor = noise_floor_of(contestants, plan);
  const double rate = error_rate_after(rounds_of(first), plan) / plan.rivals;
  for (std::size_t i = 1; i < contestants.size(); ++i) {
    if (!contestants[i].reasons.empty()) continue;
    const auto series = paired(first.blocks, contestants[i].blocks, plan.discard_first);
    const auto one = compare(series.rounds, floor, "", rate);
    if (one && one->verdict == Verdict::inconclusive) return false;
  }
  return true;
}

int samples_of(const ContestantRecord& record) {
  int samples = 0;
  for (const auto& block : record.blocks) samples += static_cast<int>(block.elapsed_ns.size());
  return samples;
}

}  // namespace

std::vector<Contestant> contestants_of(
    const std::vector<std::pair<std::string, const Candidate*>>& versions,
    std::vector<CandidateProcess>& processes) {
  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < versions.size(); ++i)
    contestants.push_back({versions[i].first, &processes[i]});
  return contestants;
}

struct TimingSession::Lane {
  CandidateProcess* process;
  ContestantRecord& record;
  CacheMode cache_mode;
  double call_ms = 0;  ///< of one sample including everything around it
  int taken = 0;
  int calls = 0;  ///< on the arenas given last

  [[nodiscard]] bool runs() const { return record.reasons.empty(); }

  /// Records a fault of its process; true if there is one.
  bool failed() {
    const auto& fault = process->fault();
    if (fault && runs()) record.reasons.push_back(reason_of(*fault));
    return fault.has_value();
  }
};

TimingSession::TimingSession(TimedArenas& arenas, SessionPlan plan)
    : arenas_(arenas), plan_(std::move(plan)), random_(fresh_number()) {}

Result<SessionRecord> TimingSession::run(const std::vector<Contestant>& contestants,
                                         const CallContext& call) {
  begin_ = steady_clock::now();
  session_ = {};
  for (const auto& contestant : contestants)
    session_.contestants.push_back({contestant.name, {}, {}});
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < contestants.size(); ++i)
    lanes.push_back({contestants[i].process, session_.contestants[i],
                     contestants[i].cache_mode.value_or(plan_.cache_mode)});
  for (;;) {
    if (auto done = arrange(lanes, call); !done) return done.error();
    if (auto done = round(lanes, call); !done) return done.error();
    call.progress(
        milliseconds_since(begin_),
        plan_.samples ? std::nullopt : std::optional(static_cast<double>(plan_.time_limit.count())),
        fmt::format("timed {} samples", lanes.front().taken));
    auto stop = lanes.front().runs() ? reason_to_stop(session_, plan_, milliseconds_since(begin_))
                                     : std::optional<std::string>("");
    // Kernels cannot predict which call is the last, or which are checked before it.
    const bool due = since_checked_ms_ >= kRest * checked_ms_ && random_() % 2 == 0;
    if (stop || due)
      if (auto done = check_all(lanes, stop.has_value(), call); !done) return done.error();
    if (!lanes.front().runs()) break;
    if (!stop) continue;
    session_.stop_reason = *std::move(stop);
    break;
  }
  conclude(session_, plan_);
  session_.elapsed_ms = milliseconds_since(begin_);
  return std::move(session_);
}

/// New contents at new addresses, when due.
Status TimingSession::arrange(std::vector<Lane>& lanes, const CallContext& call) {
  if (arranged_ms_ > 0 && since_arranged_ms_ < kRest * arranged_ms_) return {};
  const auto start = steady_clock::now();
  for (auto& lane : lanes)
    if (lane.runs())
      if (auto taken = arenas_.take_back(*lane.process, call); !taken) return taken;
  if (auto renewed = arenas_.renew(call); !renewed) return renewed;
  for (auto& lane : lanes)
    if (auto done = give(lane, call); !done) return done;
  arranged_ms_ = milliseconds_since(start);
  since_arranged_ms_ = 0;
  return {};
}

Status TimingSession::round(std::vector<Lane>& lanes, const CallContext& call) {
  const auto start = steady_clock::now();
  std::vector<std::size_t> turn(lanes.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::shuffle(turn.begin(), turn.end(), random_);
  for (const auto i : turn)
    if (auto done = block(lanes[i], call); !done) return done;
  std::reverse(turn.begin(), turn.end());
  for (const auto i : turn)
    if (!lanes[i].record.distant)
      if (auto done = block(lanes[i], call); !done) return done;
  if (plan_.sparing && rounds_of(lanes.front().record) == 1) note_distant(session_);
  const double spent = milliseconds_since(start);
  since_arranged_ms_ += spent;
  since_checked_ms_ += spent;
  return {};
}

Status TimingSession::check_all(std::vector<Lane>& lanes, bool last, const CallContext& call) {
  const auto start = steady_clock::now();
  for (auto& lane : lanes) {
    if (last)
      if (auto done = call_again(lane, call); !done) return done;
    if (auto done = judge(lane, last, call); !done) return done;
  }
  checked_ms_ = milliseconds_since(start);
  since_checked_ms_ = 0;
  return {};
}

Status TimingSession::give(Lane& lane, const CallContext& call) {
  if (!lane.runs()) return {};
  lane.calls = 0;
  auto done = arenas_.give(*lane.process, call);
  if (!done || lane.failed()) return done;
  return lane.taken == 0 && lane.call_ms == 0 ? probe(lane, call) : Status{};
}

/// Untimed calls of a new contestant, and the duration of one sample including everything around
/// it.
Status TimingSession::probe(Lane& lane, const CallContext& call) {
  const wire::TimeBlock plan{std::max(plan_.prewarm, 1) - 1, 1, lane.cache_mode, plan_.host_time,
                             kBlockLimitMs};
  const auto start = steady_clock::now();
  auto samples = lane.process->time(plan, call);
  if (!samples) return samples.error();
  lane.calls = plan.warmup + 1;
  lane.call_ms = milliseconds_since(start) / (plan.warmup + 1);
  (void)lane.failed();
  return {};
}

int TimingSession::block_size(const Lane& lane) {
  if (!plan_.samples) {
    const auto most =
        std::clamp(static_cast<int>(kBlockMs / std::max(lane.call_ms, 0.001)), 1, kMostInBlock);
    // Varies, so that kernels cannot predict the last call, which is the one that is checked.
    return most - static_cast<int>(random_() % static_cast<unsigned>(most / 5 + 1));
  }
  const int even = std::max(*plan_.samples / (2 * kRoundsOfFixed), 1);
  return std::min(even, *plan_.samples - lane.taken);
}

wire::TimeBlock TimingSession::plan_of(const Lane& lane) {
  wire::TimeBlock plan{plan_.warmup, block_size(lane), lane.cache_mode, plan_.host_time,
                       kBlockLimitMs};
  if (!lane.record.distant) return plan;
  plan.samples = 1;
  // What a flush does not take away, long calls hardly depend on.
  if (lane.cache_mode == CacheMode::cold) plan.warmup = 0;
  return plan;
}

Status TimingSession::block(Lane& lane, const CallContext& call) {
  if (!lane.runs()) return {};
  const auto plan = plan_of(lane);
  if (plan.samples <= 0) return {};
  const auto start = steady_clock::now();
  auto samples = lane.process->time(plan, call);
  if (!samples) return samples.error();
  const double spent = milliseconds_since(start);
  session_.sampling_ms += spent;
  // The probe included loading code and initial measurements; a block predicts better how many
  // samples fit the next one.
  lane.call_ms = spent / (plan.warmup + plan.samples);
  if (lane.failed()) return {};
  lane.taken += static_cast<int>(samples->elapsed_ns.size());
  lane.calls += plan.warmup + static_cast<int>(samples->elapsed_ns.size());
  if (auto flagged = reason_of_flags(samples->flags)) lane.record.reasons.push_back(*flagged);
  // A round has two blocks; that of a distant one lacks the other.
  if (lane.record.distant) lane.record.blocks.emplace_back();
  lane.record.blocks.push_back(*std::move(samples));
  return {};
}

/// Untimed calls until an arena was called with other contents than the first, if they take little
/// of the time: a kernel that keeps answers by address is right in the first call at each.
Status TimingSession::call_again(Lane& lane, const CallContext& call) {
  if (!lane.runs() || lane.calls == 0) return {};
  const int missing = arenas_.count(*lane.process) + 1 - lane.calls;
  const double allowed = kLastCallsShare * static_cast<double>(plan_.time_limit.count());
  if (missing <= 0 || missing * lane.call_ms > allowed) return {};
  auto samples =
      lane.process->time({missing - 1, 1, lane.cache_mode, plan_.host_time, kBlockLimitMs}, call);
  if (!samples) return samples.error();
  lane.calls += missing;
  (void)lane.failed();
  return {};
}

/// One arena, drawn at random in this call, must have the right answers: of those called so far,
/// or, always at the end, of those called more than once.
Status TimingSession::judge(Lane& lane, bool last, const CallContext& call) {
  if (!lane.runs() || lane.calls == 0) return {};
  const int count = arenas_.count(*lane.process);
  const int called_again = std::min(lane.calls - count, count);
  const int drawn_from =
      called_again > 0 && (last || random_() % 2 == 0) ? called_again : std::min(lane.calls, count);
  const auto index = static_cast<int>(random_() % static_cast<unsigned>(drawn_from));
  auto wrong = arenas_.judge(*lane.process, index, call);
  if (!wrong) return wrong.error();
  if (!lane.failed() && *wrong) lane.record.reasons.push_back(**std::move(wrong));
  return {};
}

std::optional<std::string> reason_to_stop(const SessionRecord& session, const SessionPlan& plan,
                                          double elapsed_ms) {
  const auto& first = session.contestants.front();
  if (plan.samples)
    return samples_of(steady(session.contestants)) >= *plan.samples
               ? std::optional<std::string>("sample_limit")
               : std::nullopt;
  const auto rounds = rounds_of(first);
  const bool look = look_after(rounds, rate_of_one(plan)).rounds == rounds;
  // Beside a distant first it is the others' times that matter.
  if (look && (rounds >= kPreciseRounds || precise(steady(session.contestants), plan)) &&
      decided(session.contestants, plan))
    return "interval_reached";
  if (rounds >= kMostRounds && !plan.patient) return "sample_limit";
  const double spent = elapsed_ms / static_cast<double>(plan.time_limit.count());
  const bool enough =
      rounds >=
      std::max(look_at(0).rounds, fewest_rounds(error_rate_after(rounds, plan) / plan.rivals));
  if (spent >= kPatience || (enough && spent >= 1)) return "time_limit";
  return std::nullopt;
}

void conclude(SessionRecord& session, const SessionPlan& plan) {
  const auto& first = session.contestants.front();
  session.noise_floor = noise_floor_of(session.contestants, plan);
  session.error_rate = error_rate_after(rounds_of(first), plan);
  session.discard_first = plan.discard_first;
}

void note_distant(SessionRecord& session) {
  auto& all = session.contestants;
  const auto times_of = [](const ContestantRecord& one) {
    std::vector<double> times;
    for (const auto& block : one.blocks)
      times.insert(times.end(), block.elapsed_ns.begin(), block.elapsed_ns.end());
    return times;
  };
  const auto beyond = [&](const ContestantRecord& slow, const ContestantRecord& fast) {
    const auto longer = times_of(slow);
    const auto shorter = times_of(fast);
    if (longer.empty() || shorter.empty()) return false;
    const double least = std::ranges::min(longer);
    return least >= kBlockMs * 1e6 && least >= kDistant * std::ranges::max(shorter);
  };
  std::vector<ContestantRecord*> others;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].reasons.empty()) others.push_back(&all[i]);
  for (auto* one : others) one->distant = beyond(*one, all.front());
  all.front().distant = !others.empty() && std::ranges::all_of(others, [&](const auto* one) {
    return beyond(all.front(), *one);
  });
}

}  // namespace ratchet
