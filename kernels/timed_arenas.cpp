#include "kernels/timed_arenas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/layout.h"
#include "kernels/verdicts.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::size_t kLeastTrials = 2;
// Rotating through more than a cache holds changes nothing that the flush does not.
constexpr std::int64_t kEnoughTrials = std::int64_t{128} << 20;
constexpr std::int64_t kTrialMemory = std::int64_t{4} << 30;  // of all contestants together

std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  const std::string bytes = random_bytes(sizeof seed);
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace

TimedArenas::TimedArenas(Judge& judge, std::vector<Trial> trials)
    : judge_(&judge), trials_(std::move(trials)), random_(fresh_seed()), order_(trials_.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

Result<TimedArenas> TimedArenas::make(Judge& judge, const Contract& contract, const Dims& dims,
                                      std::string_view secret, std::size_t contestants,
                                      const CallContext& call) {
  auto layout = layout_of(contract, dims);
  if (!layout) return layout.error();
  const auto room = static_cast<std::size_t>(
      kTrialMemory / (layout->bytes * static_cast<std::int64_t>(contestants + 2)));
  const auto needed = static_cast<std::size_t>(kEnoughTrials / layout->bytes + 1);
  const auto most = std::clamp<std::size_t>(needed, kLeastTrials, kMost);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(room, 1, most); ++i) {
    auto trial = judge.make_trial(
        dims, "normal", trial_seed(secret, "", fmt::format("time {} {}", encode(dims).dump(), i)),
        call);
    if (!trial) return trial.error();
    trials.push_back(*std::move(trial));
  }
  return TimedArenas(judge, std::move(trials));
}

void TimedArenas::renew() {
  std::shuffle(order_.begin(), order_.end(), random_);
  shift_ = shift_of(std::to_string(random_()));
}

Status TimedArenas::give(CandidateProcess& process, const CallContext& call) {
  std::vector<const MemoryFile*> arenas;
  Given given{order_, {}};
  for (const auto trial : order_) {
    arenas.push_back(&trials_[trial].sent);
    given.seeds.push_back(hex(sha256(random_bytes(sizeof(Digest)))));
  }
  const bool writes_all =
      std::all_of(trials_.begin(), trials_.end(), [](const Trial& t) { return t.writes_all; });
  auto done =
      process.prepare(trials_.front().plan, {arenas, shift_, writes_all, given.seeds}, call);
  given_[&process] = std::move(given);
  return done;
}

Result<std::optional<Reason>> TimedArenas::judge(CandidateProcess& process, int calls,
                                                 const CallContext& call) {
  const auto& given = given_[&process];
  const auto reached = std::min(given.order.size(), static_cast<std::size_t>(std::max(1, calls)));
  const auto place = static_cast<std::size_t>(random_() % reached);
  const Trial& trial = trials_[given.order[place]];
  auto returned = process.collect(static_cast<int>(place), trial.plan.layout.bytes, call);
  if (!returned) return returned.error();
  if (!*returned) return std::optional<Reason>{};
  auto last = judge_->refreshed(trial, given.seeds[place], (*returned)->uses, call);
  if (!last) return last.error();
  auto verdict = judge_->compare(*last, (*returned)->arena, call);
  if (!verdict) return verdict.error();
  if (verdict->passed) return std::optional<Reason>{};
  return std::optional<Reason>(Reason{
      "timed_output_wrong", "an output of the timed calls is wrong: " + described(*verdict), {}});
}

}  // namespace ratchet
