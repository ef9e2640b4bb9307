// Arenas of timed calls in memory shared by a judge on the GPU: nothing crosses the bus.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/tolerance.h"
#include "kernels/judge/verdicts.h"
#include "kernels/timing/timed_arenas.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

class DeviceArenas : public TimedArenas {
 public:
  DeviceArenas(DeviceTrials& trials, CallPlan call, ArenaPlan plan, std::string_view secret,
               std::vector<std::int64_t> places)
      : trials_(trials),
        plan_(std::move(call)),
        content_(std::move(plan)),
        secret_(secret),
        places_(std::move(places)),
        random_(fresh_number()) {
    draw();
  }

  /// Determines whether kernels must write all of their outputs. Error `unavailable`: contents that
  /// a function makes cannot be made or changed here once more.
  Status open(const Contract& contract, const CallContext& call) {
    if (same_rules_on_devices(contract))
      if (auto known = trials_.finite_when_normal(content_.dims, call); !known)
        return known.error();
    if (auto generated = trials_.generate(plan_, content(seeds_.front(), {}), {}, call); !generated)
      return generated;
    if (auto done = trials_.answer(call); !done) return done;
    auto answered = trials_.describe(call);
    if (!answered) return answered.error();
    writes_all_ = answered->writes_all;
    return trials_.makes_inputs() ? try_made_inputs(call) : Status{};
  }

  Status take_back(CandidateProcess& process, const CallContext& call) override {
    const auto given = given_.find(&process);
    if (given == given_.end() || !given->second.dealt) return {};
    taken_back_ = std::exchange(given->second.dealt, std::nullopt);
    return process.detach(call);
  }

  Status renew(const CallContext& call) override {
    draw();
    // Other arenas of the same trials may have dealt it by now, and attach to it when given.
    const bool lies_there = std::exchange(taken_back_, std::nullopt) == trials_.dealt();
    return lies_there ? trials_.renew(call) : Status{};
  }

  Status give(CandidateProcess& process, const CallContext& call) override {
    auto& given = given_[&process];
    if (!given.candidate)
      given.candidate = content_.first_room + static_cast<int>(given_.size()) - 1;
    if (given.dealt != trials_.dealt()) {
      auto done = trials_.share_with(process, *given.candidate, call);
      if (!done || process.fault()) return done;
      given.dealt = trials_.dealt();
    }
    given.seeds = seeds_;
    CandidateProcess::Rotation rotation;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      rotation.at.push_back(places_[i] + shift_);
      rotation.refresh_seeds.push_back(fresh_seed());
      const wire::Place place{*given.candidate, rotation.at.back()};
      if (auto generated = trials_.generate(plan_, content(seeds_[i], {}), place, call); !generated)
        return generated;
    }
    rotation.writes_all = writes_all_;
    given.rotation = rotation;
    return process.prepare(plan_, rotation, call);
  }

  [[nodiscard]] int count(const CandidateProcess& /*process*/) const override {
    return static_cast<int>(places_.size());
  }

  Result<std::optional<Reason>> judge(CandidateProcess& process, int place,
                                      const CallContext& call) override {
    const auto& given = given_[&process];
    const auto index = static_cast<std::size_t>(place);
    auto uses = process.uses(place, call);
    if (!uses) return uses.error();
    if (process.fault()) return std::optional<Reason>{};
    const wire::Uses changes{given.rotation.refresh_seeds[index], *uses};
    if (auto generated = trials_.generate(plan_, content(given.seeds[index], changes), {}, call);
        !generated)
      return generated.error();
    if (auto done = trials_.answer(call); !done) return done.error();
    auto compared = trials_.compare({*given.candidate, given.rotation.at[index]}, call);
    if (!compared) return compared.error();
    return reason_of_timed_output(*compared->comparison);
  }

 private:
  struct Given {
    std::optional<int> candidate;  // whose memory it gets
    std::optional<int> dealt;      // when the memory was dealt that it has
    std::vector<std::string> seeds;
    CandidateProcess::Rotation rotation;
  };

  void draw() {
    seeds_.clear();
    while (seeds_.size() < places_.size())
      seeds_.push_back(trial_seed(
          secret_, "", fmt::format("time {} {}", encode(content_.dims).dump(), made_++)));
    shift_ = shift_of(std::to_string(random_()));
  }

  [[nodiscard]] DeviceTrials::Content content(const std::string& seed,
                                              const std::optional<wire::Uses>& uses) const {
    return {content_.dims, content_.values, seed, {}, uses};
  }

  /// Whether the inputs can be made once more for the verdict on a timed output, and whether the
  /// reference takes them after a few of their elements have changed.
  Status try_made_inputs(const CallContext& call) {
    constexpr int kUses = 64;
    auto repeats = trials_.repeats_inputs(call);
    if (!repeats) return repeats.error();
    if (!*repeats) return unavailable("inputs() makes other inputs from the same seed");
    const wire::Uses changes{fresh_seed(), kUses};
    if (auto generated = trials_.generate(plan_, content(seeds_.front(), changes), {}, call);
        !generated)
      return generated;
    auto taken = trials_.answer(call);
    if (!taken && taken.error().code == ErrorCode::invalid_argument)
      return unavailable("the reference refuses inputs of which a few elements have changed");
    return taken;
  }

  DeviceTrials& trials_;
  CallPlan plan_;
  ArenaPlan content_;
  std::string secret_;
  std::vector<std::int64_t> places_;  ///< of the arenas in a process's memory
  std::mt19937_64 random_;            // shifts; not secret
  std::vector<std::string> seeds_;    // of the contents, by place
  int made_ = 0;
  std::int64_t shift_ = 0;
  bool writes_all_ = true;
  std::map<const CandidateProcess*, Given> given_;
  std::optional<int> taken_back_;  // when the memory was dealt that was taken back last
};

}  // namespace

Result<std::unique_ptr<TimedArenas>> device_arenas(DeviceTrials& trials, const Contract& contract,
                                                   const ArenaPlan& plan, std::string_view secret,
                                                   std::size_t contestants,
                                                   const CallContext& call) {
  auto calls = call_plan_of(contract, plan.dims);
  if (!calls) return calls.error();
  const auto bytes = calls->layout.bytes;
  const int most = std::min(plan.most_places, TimedArenas::kMostShared);
  auto places = trials.places(bytes, places_for(bytes, contestants, most));
  auto made =
      std::make_unique<DeviceArenas>(trials, *std::move(calls), plan, secret, std::move(places));
  if (auto done = made->open(contract, call); !done) return done.error();
  return std::unique_ptr<TimedArenas>(std::move(made));
}

}  // namespace ratchet
