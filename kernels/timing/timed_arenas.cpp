#include "kernels/timing/timed_arenas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/layout.h"
#include "kernels/judge/verdicts.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::int64_t kLeastPlaces = 2;
// Rotating through more memory than a cache holds adds nothing to the flush.
constexpr std::int64_t kEnoughBytes = std::int64_t{128} << 20;
constexpr std::int64_t kArenaMemory = std::int64_t{4} << 30;  // of all contestants together

/// Arenas in sealed memory files.
class FileArenas : public TimedArenas {
 public:
  /// `changes`: of the inputs, before every timed call.
  FileArenas(Judge& judge, std::vector<Trial> trials, bool changes)
      : judge_(judge),
        trials_(std::move(trials)),
        changes_(changes),
        random_(fresh_number()),
        order_(trials_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Status take_back(CandidateProcess& /*process*/, const CallContext& /*call*/) override {
    return {};  // `give` replaces them
  }

  Status renew(const CallContext& /*call*/) override {
    std::shuffle(order_.begin(), order_.end(), random_);
    shift_ = shift_of(std::to_string(random_()));
    return {};
  }

  Status give(CandidateProcess& process, const CallContext& call) override {
    CandidateProcess::Rotation rotation;
    for (const auto trial : order_) {
      rotation.arenas.push_back(&trials_[trial].sent);
      rotation.refresh_seeds.push_back(changes_ ? fresh_seed() : "");
    }
    rotation.shift = shift_;
    rotation.writes_all = std::ranges::all_of(trials_, &Trial::writes_all);
    auto done = process.prepare(trials_.front().plan, rotation, call);
    given_[&process] = {order_, std::move(rotation.refresh_seeds)};
    return done;
  }

  [[nodiscard]] int count(const CandidateProcess& /*process*/) const override {
    return static_cast<int>(trials_.size());
  }

  Result<std::optional<Reason>> judge(CandidateProcess& process, int index,
                                      const CallContext& call) override {
    const auto& given = given_[&process];
    const auto place = static_cast<std::size_t>(index);
    const Trial& trial = trials_[given.order[place]];
    auto returned = process.collect(index, trial.plan.layout.bytes, call);
    if (!returned) return returned.error();
    if (!*returned) return std::optional<Reason>{};
    auto last = judge_.refreshed(trial, given.seeds[place], (*returned)->uses, call);
    if (!last) return last.error();
    auto verdict = judge_.compare(*last, (*returned)->arena, call);
    if (!verdict) return verdict.error();
    return reason_of_timed_output(*verdict);
  }

 private:
  struct Given {
    std::vector<std::size_t> order;  // which trial is in which place
    std::vector<std::string> seeds;  // by place
  };

  Judge& judge_;
  std::vector<Trial> trials_;
  bool changes_;
  std::mt19937_64 random_;  // orders and shifts; not secret
  std::vector<std::size_t> order_;
  std::int64_t shift_ = 0;
  std::map<const CandidateProcess*, Given> given_;
};

/// Whether the reference takes inputs a few elements of which have changed. Those that a function
/// of the user makes may belong together in a way that only it knows.
Result<bool> takes_changes(Judge& judge, const Contract& contract, const Trial& trial,
                           const CallContext& call) {
  constexpr int kUses = 64;
  if (given_inputs(contract).empty()) return true;
  const auto changed = judge.refreshed(trial, fresh_seed(), kUses, call);
  if (!changed && changed.error().code != ErrorCode::invalid_argument) return changed.error();
  return changed.has_value();
}

Result<std::unique_ptr<TimedArenas>> file_arenas(Judge& judge, const Contract& contract,
                                                 const ArenaPlan& plan, std::string_view secret,
                                                 std::size_t contestants, const CallContext& call) {
  auto layout = layout_of(contract, plan.dims);
  if (!layout) return layout.error();
  std::vector<Trial> trials;
  const int most = std::min(plan.most_places, TimedArenas::kMost);
  for (int i = 0; i < places_for(layout->bytes, contestants, most); ++i) {
    const auto what = fmt::format("time {} {}", encode(plan.dims).dump(), i);
    auto trial = judge.make_trial(plan.dims, plan.values, trial_seed(secret, "", what), call);
    if (!trial) return trial.error();
    trials.push_back(*std::move(trial));
  }
  auto changes = takes_changes(judge, contract, trials.front(), call);
  if (!changes) return changes.error();
  return std::unique_ptr<TimedArenas>(
      std::make_unique<FileArenas>(judge, std::move(trials), *changes));
}

/// See `split_arenas`.
class SplitArenas : public TimedArenas {
 public:
  SplitArenas(const CandidateProcess& process, TimedArenas& its, TimedArenas& theirs)
      : process_(process), its_(its), theirs_(theirs) {}

  Status take_back(CandidateProcess& process, const CallContext& call) override {
    return of(process).take_back(process, call);
  }
  Status renew(const CallContext& call) override {
    if (auto renewed = its_.renew(call); !renewed) return renewed;
    return theirs_.renew(call);
  }
  Status give(CandidateProcess& process, const CallContext& call) override {
    return of(process).give(process, call);
  }
  [[nodiscard]] int count(const CandidateProcess& process) const override {
    return of(process).count(process);
  }
  Result<std::optional<Reason>> judge(CandidateProcess& process, int index,
                                      const CallContext& call) override {
    return of(process).judge(process, index, call);
  }

 private:
  [[nodiscard]] TimedArenas& of(const CandidateProcess& process) const {
    return &process == &process_ ? its_ : theirs_;
  }

  const CandidateProcess& process_;
  TimedArenas& its_;
  TimedArenas& theirs_;
};

}  // namespace

std::unique_ptr<TimedArenas> split_arenas(const CandidateProcess& process, TimedArenas& its,
                                          TimedArenas& theirs) {
  return std::make_unique<SplitArenas>(process, its, theirs);
}

int places_for(std::int64_t bytes, std::size_t contestants, int most) {
  const auto room = kArenaMemory / (bytes * static_cast<std::int64_t>(contestants + 2));
  const auto useful = std::clamp<std::int64_t>(kEnoughBytes / bytes + 1, kLeastPlaces, most);
  return static_cast<int>(std::clamp<std::int64_t>(room, 1, useful));
}

Result<ArenaSource> ArenaSource::open(const ReferenceParts& parts, const Contract& contract,
                                      std::size_t contestants, const CallContext& call,
                                      IdleJudge judge) {
  ArenaSource source(parts, contract, contestants);
  source.used_ = static_cast<bool>(judge);
  source.trials_ = std::move(judge.on_device);
  source.judge_ = std::move(judge.by_files);
  if (answers_on_device(contract)) {
    auto largest = largest_arena(contract);
    if (!largest) return largest.error();
    // One more: counters are read in a separate process, on the same arenas.
    source.room_ = {static_cast<int>(contestants) + 1,
                    places_for(*largest, contestants + 1, TimedArenas::kMostShared)};
    if (!source.used_)
      if (auto launched = source.launch_trials(call); !launched) return launched.error();
  }
  if (!source.trials_ && !source.judge_)
    if (auto opened = source.open_judge(call); !opened) return opened.error();
  return source;
}

/// None where the device has none.
Status ArenaSource::launch_trials(const CallContext& call) {
  trials_.reset();
  auto trials = DeviceTrials::launch(parts_, contract_, room_, call);
  if (!trials) return trials.error().code == ErrorCode::unavailable ? Status{} : trials.error();
  trials_ = *std::move(trials);
  return {};
}

/// None where the device has none; then there is a judge.
Status ArenaSource::open_trials(const CallContext& call) {
  if (std::exchange(used_, false)) {
    shares_ = trials_->renew(room_, call).has_value();
    if (shares_) return {};
    // Their fault may be of having served others.
    if (auto launched = launch_trials(call); !launched) return launched;
  }
  if (trials_) {
    const auto opened = trials_->open(call);
    if (!opened && opened.error().code != ErrorCode::unavailable) return opened;
    shares_ = opened.has_value();
  }
  if (shares_) return {};
  trials_.reset();
  return open_judge(call);
}

Status ArenaSource::open_judge(const CallContext& call) {
  auto judge = Judge::open(parts_, contract_, call);
  if (!judge) return judge.error();
  judge_ = *std::move(judge);
  return {};
}

Result<std::unique_ptr<TimedArenas>> ArenaSource::arenas(const ArenaPlan& plan,
                                                         std::string_view secret,
                                                         const CallContext& call) {
  if (trials_ && !shares_)
    if (auto opened = open_trials(call); !opened) return opened.error();
  if (trials_) {
    auto made = device_arenas(*trials_, contract_, plan, secret, contestants_ + 1, call);
    if (made || made.error().code != ErrorCode::unavailable) return made;
    retired_ = std::move(trials_);  // earlier arenas may still borrow it
    if (auto judge = open_judge(call); !judge) return judge.error();
  }
  return by_files(plan, secret, call);
}

Result<std::unique_ptr<TimedArenas>> ArenaSource::by_files(const ArenaPlan& plan,
                                                           std::string_view secret,
                                                           const CallContext& call) {
  const bool used = std::exchange(used_, false);
  auto made = file_arenas(*judge_, contract_, plan, secret, contestants_, call);
  if (made || !used || call.canceled()) return made;
  // As above.
  if (auto opened = open_judge(call); !opened) return opened.error();
  return file_arenas(*judge_, contract_, plan, secret, contestants_, call);
}

}  // namespace ratchet
