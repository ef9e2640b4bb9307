#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/core/units.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

using StatePtr = std::shared_ptr<const RunState>;

/// The most recently used runs as folded states. Other runs are dropped and folded again when they
/// are needed.
///
/// Thread rule: safe from several threads; a kept state is never changed.
class StateCache {
 public:
  explicit StateCache(std::size_t most = 64) : most_(most) {}

  /// Null when the run is not held.
  [[nodiscard]] StatePtr find(const RunId& run);
  /// Keeps the state, unless a later one of its run is held, and returns it.
  StatePtr keep(StatePtr state);

 private:
  using Order = std::list<StatePtr>;  // most recently used first

  const std::size_t most_;
  std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> places_;  ///< by run id
};

}  // namespace ratchet
