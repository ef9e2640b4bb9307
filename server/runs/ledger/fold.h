#pragma once

// Shared by the folds of single kinds of rows.

#include <optional>
#include <string>
#include <utility>

#include "server/runs/ledger/run_state.h"

namespace ratchet::fold {

/// The error for a row that this program cannot read; it names the row.
[[nodiscard]] Error unreadable(const LedgerRow& row, const Error& why);

/// The error for a row whose kind needs an event.
[[nodiscard]] Error without_event(const LedgerRow& row);

/// Appends an attempt of the open version.
void note_attempt(RunState& state, const LedgerRow& row, Event event, std::string outcome);

/// Decodes the fact and calls `use` with it.
template <class Fact, class Use>
Status with(const LedgerRow& row, const Json& json, Use use) {
  auto fact = decode_stored<Fact>(json);
  if (!fact) return unreadable(row, fact.error());
  return use(*std::move(fact));
}

/// Folds in a row about a measurement; empty if it is of another kind.
[[nodiscard]] std::optional<Status> measurement_row(RunState& state, const LedgerRow& row,
                                                    const Entry& entry);

/// Folds in a row about the search; empty if it is of another kind.
[[nodiscard]] std::optional<Status> search_row(RunState& state, const LedgerRow& row,
                                               const Entry& entry);

}  // namespace ratchet::fold
