#pragma once

// Arguments of the search tools, methods and acceptance: ids and prose.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/findings.h"

namespace ratchet {

enum class SkipReason {
  already_selected,
  arch_incompatible,
  feature_unavailable,
  no_trigger,
  skip_condition
};
constexpr auto enum_names(SkipReason) {
  using enum SkipReason;
  return as_written<already_selected, arch_incompatible, feature_unavailable, no_trigger,
                    skip_condition>();
}

/// A method of higher priority that was not chosen. The server verifies every reason except
/// `skip_condition`, which it only records.
struct SkippedMethod {
  std::string id;
  SkipReason reason = SkipReason::skip_condition;
  std::string why;

  static constexpr void fields(auto&& visit) {
    using S = SkippedMethod;
    visit(required<&S::id>("", {.max_length = 64}),
          optional<&S::reason>("Verified, but for skip_condition."),
          optional<&S::why>("For skip_condition: what in this task rules it out.",
                            {.max_length = 500}));
  }
};

struct ProposedMethod {
  std::string id;
  std::vector<SkippedMethod> skipped_higher;

  static constexpr void fields(auto&& visit) {
    visit(required<&ProposedMethod::id>("From list_methods.", {.max_length = 64}),
          optional<&ProposedMethod::skipped_higher>(
              "Higher-priority methods of its axis passed over.", {.max_length = 32}));
  }
};

/// A task and its acceptance criterion.
struct AcceptancePair {
  std::string task;
  std::string criterion;

  static constexpr void fields(auto&& visit) {
    visit(required<&AcceptancePair::task>("", {.max_length = 300}),
          required<&AcceptancePair::criterion>(
              "\"name >= number\", joined by \"and\", or \"review\".", {.max_length = 300}));
  }
};

enum class ReviewVerdict { met, open };
constexpr auto enum_names(ReviewVerdict) {
  return as_written<ReviewVerdict::met, ReviewVerdict::open>();
}

struct ReviewRequest {
  std::optional<int> pair;
  std::optional<ReviewVerdict> verdict;
  std::vector<std::string> looked_at;
  std::optional<std::string> note;

  static constexpr void fields(auto&& visit) {
    using R = ReviewRequest;
    visit(optional<&R::pair>("Number of the pair judged.", {.min = 1, .max = 1000}),
          optional<&R::verdict>("Of a pair whose criterion is review."),
          optional<&R::looked_at>("Versions or artifacts looked at.", {.max_length = 64}),
          optional<&R::note>("", {.max_length = 1000}));
  }
};

}  // namespace ratchet
