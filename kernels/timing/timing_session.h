#pragma once

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/process/candidate_process.h"
#include "kernels/timing/looks.h"
#include "kernels/timing/noise.h"
#include "kernels/timing/statistics.h"
#include "kernels/timing/timed_arenas.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/findings.h"

namespace ratchet {

/// How finely and how long to sample.
struct SessionPlan {
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
  int prewarm = 1;             ///< untimed calls before the first block of each contestant
  int warmup = 1;              ///< untimed calls before every block
  std::optional<int> samples;  ///< this many per contestant; empty: until precise or out of time
  bool patient = false;        ///< an undecided comparison goes on until the time limit
  bool sparing = false;        ///< distant contestants get one call a round
  double target = 0.005;       ///< relative half-width of the median's interval to stop at
  double least_noise = kLeastNoise;     ///< ratios up to 1 + this, in either direction, are noise
  std::optional<NoiseProfile> noise;    ///< calibrated; empty: the session's own scatter is used
  std::optional<double> max_clock_mhz;  ///< the device's highest clock; empty: not told
  double error_rate = kErrorRate;       ///< of one verdict, or of all rivals' together
  int rivals = 1;                       ///< verdicts that must hold together, see `compare_all`
  std::chrono::milliseconds time_limit{10'000};
  int discard_first = 1;
};

/// One kernel in a comparison. Its process stays alive for the whole session.
struct Contestant {
  std::string name;
  CandidateProcess* process = nullptr;
  std::optional<CacheMode> cache_mode;  ///< empty: the plan's
};

/// Pairs names with processes, in order; borrows the processes.
[[nodiscard]] std::vector<Contestant> contestants_of(
    const std::vector<std::pair<std::string, const Candidate*>>& versions,
    std::vector<CandidateProcess>& processes);

/// The measurements of one contestant.
struct ContestantRecord {
  std::string name;
  std::vector<wire::Samples> blocks;  ///< in launch order
  std::vector<Reason> reasons;        ///< why its times do not count
  bool distant = false;               ///< see `note_distant`
};

/// The first contestant is the one the others are compared with.
struct SessionRecord {
  std::vector<ContestantRecord> contestants;
  std::string stop_reason;  ///< interval_reached, time_limit or sample_limit
  double noise_floor = kLeastNoise;
  double error_rate = kErrorRate;  ///< of the look at which it ended, see `look_at`
  double sampling_ms = 0;          ///< in timed blocks, including everything around a sample
  double elapsed_ms = 0;           ///< of the whole session
  int discard_first = 1;           ///< of each contestant's samples
};

/// Why a session that has recorded this in so much time ends: all verdicts are in, or the samples
/// or the time are used up. Empty: it goes on. Pure.
[[nodiscard]] std::optional<std::string> reason_to_stop(const SessionRecord& session,
                                                        const SessionPlan& plan, double elapsed_ms);
/// Sets what the verdicts of a session that ends with these blocks need: noise floor, error rate
/// and discarded samples. Pure.
void conclude(SessionRecord& session, const SessionPlan& plan);

/// Marks who is distant in a session that has recorded a round: whose calls take 5 ms at least, and
/// four times as long as those of all that it is compared with. The first is compared with all
/// others, each of these with the first. Nothing is marked in a session of one. Pure.
void note_distant(SessionRecord& session);

/// An interleaved comparison of live processes. In each round every contestant gets a block of
/// samples in random order and a second block in the reverse order (ABBA), so that clock drift and
/// contention affect all alike. Inputs change before every call. All contestants repeatedly get the
/// same contents at new addresses, and now and then, and at the end, must have the right answers in
/// an arena drawn at random; how often depends on the cost relative to the sampling. At the end
/// that is an arena which was called with other contents before, unless such calls would take too
/// long.
///
/// In a `sparing` session a distant contestant gets a single call in each round from the second on,
/// without a block in the reverse order: the rounds remain the units of all intervals.
///
/// A contestant that fails or answers wrongly is excluded from then on; if it is the first, the
/// session ends. Thread rule and errors: as WorkerProcess.
class TimingSession {
 public:
  /// Borrows the arenas, which must outlive it.
  TimingSession(TimedArenas& arenas, SessionPlan plan);

  Result<SessionRecord> run(const std::vector<Contestant>& contestants, const CallContext& call);

 private:
  struct Lane;

  Status arrange(std::vector<Lane>& lanes, const CallContext& call);
  Status round(std::vector<Lane>& lanes, const CallContext& call);
  Status check_all(std::vector<Lane>& lanes, bool last, const CallContext& call);
  Status give(Lane& lane, const CallContext& call);
  Status probe(Lane& lane, const CallContext& call);
  Status block(Lane& lane, const CallContext& call);
  [[nodiscard]] wire::TimeBlock plan_of(const Lane& lane);
  Status call_again(Lane& lane, const CallContext& call);
  Status judge(Lane& lane, bool last, const CallContext& call);
  [[nodiscard]] int block_size(const Lane& lane);

  TimedArenas& arenas_;
  SessionPlan plan_;
  std::mt19937_64 random_;  // orders; not secret
  std::chrono::steady_clock::time_point begin_;
  SessionRecord session_;
  double arranged_ms_ = 0;  // duration of the last arrangement
  double since_arranged_ms_ = 0;
  double checked_ms_ = 0;
  double since_checked_ms_ = 0;
};

/// Speed-up of the first contestant over another one of the session. Flagged `throttled` where
/// samples were dropped for their clock, see `judge_throttling`. Errors: as `compare`.
[[nodiscard]] Result<Comparison> comparison_of(const SessionRecord& session, std::size_t other);

/// Speed-ups of all other contestants over the first, with verdicts that hold together (Holm).
/// Skips contestants with reasons; `against` names the contestant. Errors: as `compare`.
[[nodiscard]] Result<std::vector<Comparison>> challenges_of(const SessionRecord& session);

/// Of each round, a contestant's time ÷ the first one's; 0 where either has none. So differences of
/// several contestants can be taken within a round.
[[nodiscard]] std::vector<double> round_ratios(const SessionRecord& session,
                                               std::size_t contestant);

/// The summary of a contestant's samples, with the session's stop reason.
[[nodiscard]] Result<Timing> timing_of(const SessionRecord& session, std::size_t contestant,
                                       const SessionPlan& plan);

/// Whether calls observed from outside the kernel contradict its timed ones. `launches_vary`: the
/// number of launches differs from call to call. `span_exceeds_events`: the work of a call on all
/// streams takes more than 1.5 times the median between its events, plus 5 µs for clock differences
/// and launch gaps. Needs three calls.
[[nodiscard]] std::optional<Reason> reason_of_spans(const std::vector<wire::CallSpan>& calls,
                                                    double median_ns);

}  // namespace ratchet
