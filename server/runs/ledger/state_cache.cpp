#include "server/runs/ledger/state_cache.h"

#include <algorithm>
#include <utility>

namespace ratchet {

class StateCache::Spares {
 public:
  void put(std::unique_ptr<RunState> state) {
    const std::scoped_lock lock(mutex_);
    const auto place = find(state->run);
    if (place != states_.end() && (*place)->sequence >= state->sequence) return;
    if (place != states_.end()) states_.erase(place);
    states_.push_front(std::move(state));
    if (states_.size() > kMost) states_.pop_back();
  }

  std::unique_ptr<RunState> take(const RunId& run) {
    const std::scoped_lock lock(mutex_);
    const auto place = find(run);
    if (place == states_.end()) return nullptr;
    auto state = std::move(*place);
    states_.erase(place);
    return state;
  }

 private:
  static constexpr std::size_t kMost = 8;  // runs that are written to at the same time

  std::list<std::unique_ptr<RunState>>::iterator find(const RunId& run) {
    return std::ranges::find_if(states_, [&](const auto& state) { return state->run == run; });
  }

  std::mutex mutex_;
  std::list<std::unique_ptr<RunState>> states_;  ///< the one put last at the front
};

StateCache::StateCache(std::size_t most) : most_(most), spares_(std::make_shared<Spares>()) {}

StatePtr StateCache::find(const RunId& run) {
  const std::scoped_lock lock(mutex_);
  const auto place = places_.find(run.text);
  if (place == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, place->second);
  return order_.front();
}

StatePtr StateCache::keep(std::unique_ptr<RunState> state) {
  RunState* const held = state.release();
  const StatePtr kept(held, [spares = spares_, held](const RunState*) {
    spares->put(std::unique_ptr<RunState>(held));  // nobody reads it any more
  });
  StatePtr replaced, forgotten;  // let go of after the lock: it may take its time
  const std::scoped_lock lock(mutex_);
  if (const auto place = places_.find(kept->run.text); place != places_.end()) {
    if ((*place->second)->sequence >= kept->sequence) return kept;
    replaced = std::move(*place->second);
    order_.erase(place->second);
    places_.erase(place);
  }
  order_.push_front(kept);
  places_[kept->run.text] = order_.begin();
  if (order_.size() <= most_) return kept;
  forgotten = std::move(order_.back());
  places_.erase(forgotten->run.text);
  order_.pop_back();
  return kept;
}

std::unique_ptr<RunState> StateCache::take_spare(const RunId& run) {
  return spares_->take(run);
}

}  // namespace ratchet
