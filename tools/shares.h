#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/runs/runs.h"

namespace ratchet {

/// Which pieces of an exploration have begun, one for each branch, and which branches each screens
/// once its own is checked. Guarded by its owner.
class Shares {
 public:
  using Branches = std::vector<BranchResult*>;

  explicit Shares(std::vector<BranchResult>& all) : all_(all) {}

  /// A piece begins. If it has begun before, that did not count, nor what it screened.
  void begin(std::size_t piece) {
    for (auto* branch : std::exchange(heats_[piece], {})) {
      branch->screening.reset();
      branch->screened.reset();
      branch->reasons.clear();
    }
    all_[piece].correctness.reset();
    begun_.insert(piece);
  }
  [[nodiscard]] bool all_begun() const { return begun_.size() == all_.size(); }

  /// Those that passed on this lab, for this piece to screen.
  Branches heat_of(std::size_t piece, const std::optional<std::string>& lab) {
    return heats_[piece] = unscreened([&](const auto& branch) { return branch.lab == lab; });
  }
  /// Of these, those that passed and that no piece has screened.
  Branches unscreened(auto&& among) {
    Branches found;
    for (auto& branch : all_)
      if (among(branch) && branch.correctness && branch.correctness->passed &&
          branch.reasons.empty() && !is_screened(branch))
        found.push_back(&branch);
    return found;
  }

 private:
  [[nodiscard]] bool is_screened(const BranchResult& branch) const {
    return std::ranges::any_of(heats_, [&](const auto& heat) {
      return std::ranges::find(heat.second, &branch) != heat.second.end();
    });
  }

  std::vector<BranchResult>& all_;
  std::set<std::size_t> begun_;
  std::map<std::size_t, Branches> heats_;
};

}  // namespace ratchet
