#pragma once

// Parts that the folds of single kinds of rows share.

#include <optional>
#include <string>
#include <utility>

#include "server/runs/ledger/run_state.h"

namespace ratchet::fold {

/// A row that this program cannot take: its error says which one.
[[nodiscard]] Error unreadable(const LedgerRow& row, const Error& why);

/// The error for a row whose kind needs an event.
[[nodiscard]] Error without_event(const LedgerRow& row);

/// One more line of the attempt ledger, about the open version.
void note_attempt(RunState& state, const LedgerRow& row, Event event, std::string outcome);

/// Decodes the fact and hands it to `use`.
template <class Fact, class Use>
Status with(const LedgerRow& row, const Json& json, Use use) {
  auto fact = decode_stored<Fact>(json);
  if (!fact) return unreadable(row, fact.error());
  return use(*std::move(fact));
}

/// Folds in a row about a measurement; empty if it is of another kind.
[[nodiscard]] std::optional<Status> measurement_row(RunState& state, const LedgerRow& row,
                                                    const Entry& entry);

/// Folds a row about the search in; empty when it is of another kind.
[[nodiscard]] std::optional<Status> search_row(RunState& state, const LedgerRow& row,
                                               const Entry& entry);

}  // namespace ratchet::fold
