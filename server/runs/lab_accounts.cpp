#include "server/runs/lab_accounts.h"

#include <fmt/format.h>

#include "server/runs/permits.h"

namespace ratchet {

Result<LabMeter*> LabAccounts::meter(const RunId& run) {
  const auto loaded = store_.load(run);
  if (!loaded) return loaded.error();
  const std::scoped_lock lock(guard_);
  auto& meter = meters_[run.text];
  if (!meter)
    meter = std::make_unique<LabMeter>(
        fmt::format("Nothing of this call was recorded. Only the user may allow more: ratchet "
                    "budget {} --max-lab-seconds N, or --max-cost N.",
                    run.text));
  meter->set(loaded->state->lab_use, loaded->state->lab_budget);
  return meter.get();
}

Status LabAccounts::record(const RunId& run, LabMeter& meter) {
  if (meter.unrecorded().seconds <= 0) return {};
  const auto held = hold(store_, run);
  if (!held) return held.error();
  const auto use = meter.unrecorded();
  const RunState& state = *held->state;
  auto done = store_.commit(
      state, {.version = state.open().id, .kind = kind::kLabTime, .fact = encode(use)});
  if (!done) return done.error();
  meter.settle(use);
  return {};
}

Result<MeasuredOn> LabAccounts::measured_on(const RunId& run) {
  const auto loaded = store_.load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  const auto& contract = state.contract.contract;
  MeasuredOn on{
      contract.lab.value_or(""), contract.device_kind, contract.device, state.environment, {}};
  for (const auto& version : state.versions)
    if (version.profile && !version.profile->comparisons.empty())
      on.noise = SeenNoise{version.profile->comparisons.front().noise_floor,
                           version.profile->timing.median.value};
  return on;
}

Status LabAccounts::move(const RunId& run, const std::string& from, const std::string& to) {
  const auto held = hold(store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (state.contract.contract.lab != from)
    return Error{ErrorCode::conflict, fmt::format("run {} is no longer on lab {}", run.text, from),
                 ""};
  auto done = store_.commit(
      state,
      {.version = state.open().id, .kind = kind::kMoved, .fact = encode(MovedFact{from, to})});
  return done ? Status{} : done.error();
}

Status LabAccounts::change_budget(const RunId& run, const LabBudget& limits) {
  const auto held = hold(store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  LabBudget budget = state.lab_budget;
  if (limits.max_lab_seconds) budget.max_lab_seconds = limits.max_lab_seconds;
  if (limits.max_cost) budget.max_cost = limits.max_cost;
  auto done = store_.commit(
      state, {.version = state.open().id, .kind = kind::kBudget, .fact = encode(budget)});
  return done ? Status{} : done.error();
}

}  // namespace ratchet
