#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// The names that a criterion may use, with their current values. All names are always present; a
/// value is empty until it was measured. Pure.
[[nodiscard]] std::map<std::string, std::optional<double>> review_facts(const RunState& state);

enum class PairState { met, open, stalled };
constexpr auto enum_names(PairState) {
  using enum PairState;
  return as_written<met, open, stalled>();
}

struct ReviewedPair {
  static constexpr std::string_view kOrigin = "agents on this run";
  int number = 0;  ///< 1, 2, …
  std::string task;
  std::string criterion;
  PairState state = PairState::open;
  std::string detail;  ///< the values it was compared with, or what is missing

  static constexpr void fields(auto&& visit) {
    using R = ReviewedPair;
    visit(required<&R::number>(), required<&R::task>(), required<&R::criterion>(),
          required<&R::state>(), required<&R::detail>("What it was held against."));
  }
};

/// Errors: `invalid_argument` when the criterion is neither "review" nor conditions
/// `name op number` joined by "and" (op: >= <= > < ==); it lists the names.
[[nodiscard]] Status check_criterion(const RunState& state, const std::string& criterion);

/// The state of every acceptance pair. An open pair of a run on a plateau is stalled. Pure.
[[nodiscard]] std::vector<ReviewedPair> review_pairs(const RunState& state);

}  // namespace ratchet
