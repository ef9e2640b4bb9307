#include "server/runs/ledger/state_cache.h"

#include <utility>

namespace ratchet {

StatePtr StateCache::find(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  const auto place = places_.find(run.text);
  if (place == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, place->second);
  return order_.front();
}

StatePtr StateCache::keep(StatePtr state) {
  StatePtr dropped;  // destroyed after the lock: a large state takes a while
  const std::scoped_lock lock(mutex_);
  if (const auto place = places_.find(state->run.text); place != places_.end()) {
    if ((*place->second)->sequence >= state->sequence) return state;
    dropped = std::exchange(*place->second, state);
    order_.splice(order_.begin(), order_, place->second);
    return state;
  }
  order_.push_front(state);
  places_[state->run.text] = order_.begin();
  if (order_.size() > most_) {
    dropped = std::move(order_.back());
    places_.erase(dropped->run.text);
    order_.pop_back();
  }
  return state;
}

}  // namespace ratchet
