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

/// The runs used last, folded as far as their ledgers were read. A server of many runs forgets the
/// others, which costs reading their rows again.
///
/// A state is not changed once it is kept. When a later one has taken its place and the last reader
/// has let go of it, it is spare: folding it on by a row or two costs less than a copy, which grows
/// with the run.
///
/// Thread rule: safe from several threads.
class StateCache {
 public:
  explicit StateCache(std::size_t most = 64);

  /// Null when the run is not held.
  [[nodiscard]] StatePtr find(const RunId& run);
  /// Keeps the state, unless a later one of its run is held, and returns it.
  StatePtr keep(std::unique_ptr<RunState> state);
  /// An earlier state of the run that nobody reads any more; null when there is none.
  [[nodiscard]] std::unique_ptr<RunState> take_spare(const RunId& run);

 private:
  /// Outlives the cache as long as somebody reads a state.
  class Spares;
  using Order = std::list<StatePtr>;  // the one used last at the front

  const std::size_t most_;
  const std::shared_ptr<Spares> spares_;
  std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> places_;  ///< by run id
};

}  // namespace ratchet
