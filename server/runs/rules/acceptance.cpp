#include "server/runs/rules/acceptance.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "server/runs/rules/progress.h"

namespace ratchet {
namespace {

constexpr std::string_view kReviewed = "review";

struct Condition {
  std::string name;
  std::string op;
  double bound = 0;

  [[nodiscard]] bool holds(double value) const {
    if (op == ">=") return value >= bound;
    if (op == "<=") return value <= bound;
    if (op == ">") return value > bound;
    if (op == "<") return value < bound;
    return value == bound;
  }
};

Error unreadable(const std::string& criterion, const std::string& why, const RunState& state) {
  std::string names;
  for (const auto& [name, value] : review_facts(state)) names += (names.empty() ? "" : ", ") + name;
  return {ErrorCode::invalid_argument, fmt::format("criterion: \"{}\": {}", criterion, why),
          fmt::format("Write review, or conditions such as speedup >= 1.2 and correct == 1. "
                      "Names: {}.",
                      names)};
}

Result<std::vector<Condition>> conditions_of(const RunState& state, const std::string& criterion) {
  std::vector<Condition> conditions;
  const auto facts = review_facts(state);
  std::istringstream words(criterion);
  std::string name;
  while (words >> name) {
    if (!conditions.empty()) {
      if (name != "and")
        return unreadable(criterion, "conditions must be joined by \"and\"", state);
      if (!(words >> name))
        return unreadable(criterion, "\"and\" must be followed by a condition", state);
    }
    Condition condition{name, "", 0};
    std::string bound;
    if (!(words >> condition.op >> bound))
      return unreadable(criterion, "a condition needs a name, an operator and a number", state);
    if (!facts.contains(name))
      return unreadable(criterion, name + " is not one of the names", state);
    constexpr std::array<std::string_view, 5> kOps{">=", "<=", ">", "<", "=="};
    if (std::ranges::find(kOps, condition.op) == kOps.end())
      return unreadable(criterion, condition.op + " is not an operator", state);
    const char* const end = bound.data() + bound.size();
    const auto [stop, code] = std::from_chars(bound.data(), end, condition.bound);
    if (code != std::errc{} || stop != end)
      return unreadable(criterion, bound + " is not a number", state);
    conditions.push_back(std::move(condition));
  }
  if (conditions.empty()) return unreadable(criterion, "it is empty", state);
  return conditions;
}

void judge_by_facts(ReviewedPair& pair, const RunState& state) {
  const auto conditions = conditions_of(state, pair.criterion);
  if (!conditions) {
    pair.detail = conditions.error().message;
    return;
  }
  const auto facts = review_facts(state);
  bool all = true;
  for (const auto& condition : *conditions) {
    const auto& value = facts.at(condition.name);
    all = all && value && condition.holds(*value);
    pair.detail += fmt::format("{}{} = {}", pair.detail.empty() ? "" : ", ", condition.name,
                               value ? fmt::format("{:g}", *value) : "not measured yet");
  }
  if (all) pair.state = PairState::met;
}

void judge_by_review(ReviewedPair& pair, const RunState& state) {
  const auto found = state.reviews.find(pair.number);
  if (found == state.reviews.end()) {
    pair.detail = "no verdict yet: call review with pair, verdict and looked_at";
    return;
  }
  const auto& review = found->second;
  if (review.verdict == ReviewVerdict::met) pair.state = PairState::met;
  pair.detail =
      fmt::format("verdict of a reviewer after looking at {}", fmt::join(review.looked_at, ", "));
}

}  // namespace

std::map<std::string, std::optional<double>> review_facts(const RunState& state) {
  using Value = std::optional<double>;
  std::map<std::string, Value> facts{{"median_ns", Value()},        {"speedup", Value()},
                                     {"speedup_low", Value()},      {"bandwidth_fraction", Value()},
                                     {"compute_fraction", Value()}, {"geomean", Value()},
                                     {"lowest_case", Value()}};
  double correct = 0;
  double faster = 0;
  for (const auto& version : state.versions) {
    if (version.is_correct()) ++correct;
    if (verdict_of(version) == Verdict::faster) ++faster;
  }
  facts["versions"] = static_cast<double>(state.versions.size());
  facts["correct_versions"] = correct;
  facts["faster_versions"] = faster;
  facts["finished"] = state.open().stage == Stage::finished ? 1 : 0;
  facts["weaknesses"] = static_cast<double>(weaknesses(state).size());
  const auto promotion = promotion_of(state);
  facts["promotable"] = promotion.promotable ? 1 : 0;
  facts["geomean"] = promotion.geomean;
  facts["lowest_case"] = promotion.lowest;
  const auto best = best_version(state);
  if (!best) return facts;
  const auto& version = *state.find(*best);
  facts["median_ns"] = version.profile->timing.median.value;
  facts["bandwidth_fraction"] = version.profile->roofline.bandwidth_fraction;
  facts["compute_fraction"] = version.profile->roofline.compute_fraction;
  const auto* const comparison = against_v0(version);
  facts["speedup"] = comparison == nullptr ? 1.0 : comparison->speedup;
  facts["speedup_low"] = comparison == nullptr ? 1.0 : comparison->ci_low;
  return facts;
}

Status check_criterion(const RunState& state, const std::string& criterion) {
  if (criterion == kReviewed) return {};
  if (auto conditions = conditions_of(state, criterion); !conditions) return conditions.error();
  return {};
}

std::vector<ReviewedPair> review_pairs(const RunState& state) {
  std::vector<ReviewedPair> pairs;
  const bool stalled = on_plateau(state);
  for (const auto& one : state.acceptance) {
    ReviewedPair pair{static_cast<int>(pairs.size()) + 1, one.task, one.criterion, PairState::open,
                      ""};
    if (one.criterion == kReviewed)
      judge_by_review(pair, state);
    else
      judge_by_facts(pair, state);
    if (pair.state == PairState::open && stalled) pair.state = PairState::stalled;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace ratchet
