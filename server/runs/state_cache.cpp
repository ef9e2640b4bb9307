#include "server/runs/state_cache.h"

#include <utility>

namespace ratchet {

StatePtr StateCache::find(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  const auto place = places_.find(run.text);
  if (place == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, place->second);
  return order_.front();
}

void StateCache::keep(StatePtr state) {
  const std::scoped_lock lock(mutex_);
  if (const auto place = places_.find(state->run.text); place != places_.end()) {
    if ((*place->second)->sequence >= state->sequence) return;
    order_.erase(place->second);
    places_.erase(place);
  }
  order_.push_front(std::move(state));
  places_[order_.front()->run.text] = order_.begin();
  if (order_.size() <= most_) return;
  places_.erase(order_.back()->run.text);
  order_.pop_back();
}

}  // namespace ratchet
