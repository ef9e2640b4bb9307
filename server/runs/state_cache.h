#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/core/units.h"
#include "server/runs/run_state.h"

namespace ratchet {

using StatePtr = std::shared_ptr<const RunState>;

/// The runs used last, folded as far as their ledgers were read. A server of many runs forgets the
/// others, which costs reading their rows again.
///
/// Thread rule: safe from several threads.
class StateCache {
 public:
  explicit StateCache(std::size_t most = 64) : most_(most) {}

  /// Null when the run is not held.
  [[nodiscard]] StatePtr find(const RunId& run);
  /// Keeps the state, unless a later one of its run is held.
  void keep(StatePtr state);

 private:
  using Order = std::list<StatePtr>;  // the one used last at the front

  const std::size_t most_;
  std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> places_;  ///< by run id
};

}  // namespace ratchet
