#include "server/core/lab_meter.h"

#include <algorithm>
#include <utility>

#include "server/core/figures.h"

namespace ratchet {
namespace {

void add_time(LabUse& sum, double seconds, const LabPrice& price) {
  sum.seconds += seconds;
  sum.cost += seconds * price.per_second;
  if (!price.currency.empty()) sum.currency = price.currency;
}

}  // namespace

void LabMeter::set(const LabUse& recorded, const LabBudget& budget) {
  const std::scoped_lock lock(mutex_);
  budget_ = budget;
  recorded_.seconds = std::max(recorded_.seconds, recorded.seconds);
  recorded_.cost = std::max(recorded_.cost, recorded.cost);
}

LabMeter::Hold::Hold(LabMeter* meter, std::string lab, const LabPrice& price)
    : meter_(meter), lab_(std::move(lab)) {
  if (!meter_) return;
  const std::scoped_lock lock(meter_->mutex_);
  auto& busy = meter_->busy_[lab_];
  if (busy.calls++ > 0) return;
  busy.since = Clock::now();
  busy.price = price;
}

LabMeter::Hold::~Hold() {
  if (!meter_) return;
  const std::scoped_lock lock(meter_->mutex_);
  const auto found = meter_->busy_.find(lab_);
  if (--found->second.calls > 0) return;
  const std::chrono::duration<double> held = Clock::now() - found->second.since;
  add_time(meter_->ended_, held.count(), found->second.price);
  meter_->busy_.erase(found);
}

LabUse LabMeter::sum() const {
  LabUse all = ended_;
  for (const auto& [lab, busy] : busy_)
    add_time(all, std::chrono::duration<double>(Clock::now() - busy.since).count(), busy.price);
  return all;
}

LabUse LabMeter::unrecorded() const {
  const std::scoped_lock lock(mutex_);
  return ended_;
}

LabUse LabMeter::counted() const {
  const std::scoped_lock lock(mutex_);
  return sum();
}

void LabMeter::settle(const LabUse& recorded) {
  const std::scoped_lock lock(mutex_);
  ended_.seconds -= recorded.seconds;
  ended_.cost -= recorded.cost;
  recorded_.seconds += recorded.seconds;
  recorded_.cost += recorded.cost;
}

Status LabMeter::within_budget() const {
  const std::scoped_lock lock(mutex_);
  const auto now = sum();
  const double seconds = recorded_.seconds + now.seconds;
  const double cost = recorded_.cost + now.cost;
  if (budget_.max_lab_seconds && seconds >= *budget_.max_lab_seconds)
    return Error{ErrorCode::not_permitted,
                 "max_lab_seconds: the run has used " + three_digits(seconds) + " s of labs; " +
                     three_digits(*budget_.max_lab_seconds) + " s are allowed",
                 way_on_};
  if (budget_.max_cost && cost >= *budget_.max_cost) {
    const auto unit = now.currency ? " " + *now.currency : "";
    return Error{ErrorCode::not_permitted,
                 "max_cost: the run has used labs for " + three_digits(cost) + unit + "; " +
                     three_digits(*budget_.max_cost) + unit + " are allowed",
                 way_on_};
  }
  return {};
}

}  // namespace ratchet
