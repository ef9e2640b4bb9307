#include "kernels/timed_arenas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/device_trials.h"
#include "kernels/judge.h"
#include "kernels/layout.h"
#include "kernels/verdicts.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostTrials = TimedArenas::kMost;
constexpr std::size_t kLeastTrials = 2;
// Rotating through more than a cache holds changes nothing that the flush does not.
constexpr std::int64_t kEnoughTrials = std::int64_t{128} << 20;
constexpr std::int64_t kTrialMemory = std::int64_t{4} << 30;  // of all contestants together

std::string hex_seed() {
  return hex(sha256(random_bytes(sizeof(Digest))));
}

std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  const std::string bytes = random_bytes(sizeof seed);
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

std::optional<Reason> reason_of_verdict(const job::Comparison& verdict) {
  if (verdict.passed) return std::nullopt;
  return Reason{
      "timed_output_wrong", "an output of the timed calls is wrong: " + described(verdict), {}};
}

/// Through sealed memory files: each contestant has several arenas of its own and rotates them.
class FileArenas : public TimedArenas {
 public:
  FileArenas(Judge& judge, std::vector<Trial> trials)
      : judge_(judge), trials_(std::move(trials)), random_(fresh_seed()), order_(trials_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    FileArenas::renew();
  }

  void renew() override {
    std::shuffle(order_.begin(), order_.end(), random_);
    shift_ = shift_of(std::to_string(random_()));
  }

  Status give(CandidateProcess& process, const CallContext& call) override {
    std::vector<const MemoryFile*> arenas;
    Given given;
    for (const auto trial : order_) {
      arenas.push_back(&trials_[trial].sent);
      given.seeds.push_back(hex_seed());
    }
    given.order = order_;
    const bool writes_all =
        std::all_of(trials_.begin(), trials_.end(), [](const Trial& t) { return t.writes_all; });
    auto done =
        process.prepare(trials_.front().plan, {arenas, shift_, writes_all, given.seeds}, call);
    given_[&process] = std::move(given);
    return done;
  }

  Result<std::optional<Reason>> judge(CandidateProcess& process, int calls,
                                      const CallContext& call) override {
    const auto& given = given_[&process];
    const auto reached = static_cast<unsigned>(
        std::min<std::size_t>(given.order.size(), static_cast<std::size_t>(std::max(1, calls))));
    const auto place = static_cast<std::size_t>(random_() % reached);
    const Trial& trial = trials_[given.order[place]];
    auto returned = process.collect(static_cast<int>(place), trial.plan.layout.bytes, call);
    if (!returned) return returned.error();
    if (!*returned) return std::optional<Reason>{};
    auto last = judge_.refreshed(trial, given.seeds[place], (*returned)->uses, call);
    if (!last) return last.error();
    auto verdict = judge_.compare(*last, (*returned)->arena, call);
    if (!verdict) return verdict.error();
    return reason_of_verdict(*verdict);
  }

  [[nodiscard]] bool in_turns() const override { return false; }

 private:
  struct Given {
    std::vector<std::size_t> order;  // which trial lies in which place
    std::vector<std::string> seeds;  // by place
  };

  Judge& judge_;
  std::vector<Trial> trials_;
  std::mt19937_64 random_;  // orders and places; not secret
  std::vector<std::size_t> order_;
  std::int64_t shift_ = 0;
  std::map<const CandidateProcess*, Given> given_;
};

class FileSource : public ArenaSource {
 public:
  FileSource(Contract contract, std::unique_ptr<Judge> judge)
      : contract_(std::move(contract)), judge_(std::move(judge)) {}

  Result<std::unique_ptr<TimedArenas>> arenas(const Dims& dims, std::string_view secret,
                                              std::size_t contestants,
                                              const CallContext& call) override {
    auto layout = layout_of(contract_, dims);
    if (!layout) return layout.error();
    const auto room = static_cast<std::size_t>(
        kTrialMemory / (layout->bytes * static_cast<std::int64_t>(contestants + 2)));
    const auto needed = static_cast<std::size_t>(kEnoughTrials / layout->bytes + 1);
    const auto most = std::clamp<std::size_t>(needed, kLeastTrials, kMostTrials);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < std::clamp<std::size_t>(room, 1, most); ++i) {
      auto trial = judge_->make_trial(
          dims, "normal", trial_seed(secret, "", fmt::format("time {} {}", encode(dims).dump(), i)),
          call);
      if (!trial) return trial.error();
      trials.push_back(*std::move(trial));
    }
    return std::unique_ptr<TimedArenas>(std::make_unique<FileArenas>(*judge_, std::move(trials)));
  }

 private:
  Contract contract_;
  std::unique_ptr<Judge> judge_;
};

/// In memory that a judge shares: contestants have it in turns.
class DeviceArenas : public TimedArenas {
 public:
  DeviceArenas(DeviceTrials& trials, CallPlan plan, Dims dims, std::string secret)
      : trials_(trials),
        plan_(std::move(plan)),
        dims_(std::move(dims)),
        secret_(std::move(secret)),
        random_(fresh_seed()) {
    DeviceArenas::renew();
  }

  /// Finds out whether kernels must write all of their outputs.
  Status open(const CallContext& call) {
    if (auto posed = trials_.pose(plan_, dims_, "normal", seed_, shift_, call); !posed)
      return posed;
    if (auto done = trials_.answer(call); !done) return done;
    auto all = trials_.writes_all(call);
    if (!all) return all.error();
    writes_all_ = *all;
    return {};
  }

  void renew() override {
    seed_ = trial_seed(secret_, "", fmt::format("time {} {}", encode(dims_).dump(), round_++));
    shift_ = shift_of(std::to_string(random_()));
  }

  Status give(CandidateProcess& process, const CallContext& call) override {
    if (!process.attached())
      if (auto done = trials_.admit(process, call); !done || process.fault()) return done;
    if (auto posed = trials_.pose(plan_, dims_, "normal", seed_, shift_, call); !posed)
      return posed;
    refresh_seed_ = hex_seed();
    return process.prepare(plan_, {{}, shift_, writes_all_, {refresh_seed_}}, call);
  }

  Result<std::optional<Reason>> judge(CandidateProcess& process, int,
                                      const CallContext& call) override {
    auto uses = process.uses(call);
    if (!uses) return uses.error();
    if (process.fault()) return std::optional<Reason>{};
    if (auto done = trials_.refresh(refresh_seed_, *uses, call); !done) return done.error();
    if (auto done = trials_.answer(call); !done) return done.error();
    auto weighed = trials_.weigh(call);
    if (!weighed) return weighed.error();
    return reason_of_verdict(*weighed->comparison);
  }

  [[nodiscard]] bool in_turns() const override { return true; }

 private:
  DeviceTrials& trials_;
  CallPlan plan_;
  Dims dims_;
  std::string secret_;
  std::mt19937_64 random_;
  std::string seed_, refresh_seed_;
  bool writes_all_ = true;
  std::int64_t shift_ = 0;
  int round_ = 0;
};

class DeviceSource : public ArenaSource {
 public:
  DeviceSource(Contract contract, std::unique_ptr<DeviceTrials> trials)
      : contract_(std::move(contract)), trials_(std::move(trials)) {}

  Result<std::unique_ptr<TimedArenas>> arenas(const Dims& dims, std::string_view secret,
                                              std::size_t, const CallContext& call) override {
    if (!opened_)
      if (auto done = trials_->open(call); !done) return done.error();
    opened_ = true;
    auto layout = layout_of(contract_, dims);
    if (!layout) return layout.error();
    auto arguments = arguments_of(contract_, dims, *layout);
    auto made = std::make_unique<DeviceArenas>(
        *trials_, CallPlan{*std::move(layout), std::move(arguments)}, dims, std::string(secret));
    if (auto done = made->open(call); !done) return done.error();
    return std::unique_ptr<TimedArenas>(std::move(made));
  }

 private:
  Contract contract_;
  std::unique_ptr<DeviceTrials> trials_;
  bool opened_ = false;
};

}  // namespace

Result<std::unique_ptr<ArenaSource>> ArenaSource::open(const ReferenceParts& parts,
                                                       const Contract& contract,
                                                       const CallContext& call) {
  if (answers_on_device(contract)) {
    auto trials = DeviceTrials::launch(parts, contract, call);
    if (trials)
      return std::unique_ptr<ArenaSource>(
          std::make_unique<DeviceSource>(contract, *std::move(trials)));
    if (trials.error().code != ErrorCode::unavailable) return trials.error();
  }
  auto judge = Judge::open(parts, contract, call);
  if (!judge) return judge.error();
  return std::unique_ptr<ArenaSource>(std::make_unique<FileSource>(contract, *std::move(judge)));
}

}  // namespace ratchet
