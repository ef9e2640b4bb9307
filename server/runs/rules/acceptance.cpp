#include "server/runs/rules/acceptance.h"

#include <fmt/format.h>

#include <sstream>

#include "server/runs/rules/conditions.h"
#include "server/runs/rules/progress.h"

namespace ratchet {
namespace {

constexpr std::string_view kReviewed = "review";

Error unreadable(const std::string& criterion, const std::string& why, const RunState& state) {
  std::string names;
  for (const auto& [name, value] : review_facts(state)) names += (names.empty() ? "" : ", ") + name;
  return {ErrorCode::invalid_argument, fmt::format("criterion: \"{}\": {}", criterion, why),
          fmt::format("A criterion is either the word review, for a pair that a reviewer decides, "
                      "or conditions joined by and: speedup >= 1.2 and weaknesses == 0. Names: {}.",
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
    std::string op;
    std::string bound;
    if (!(words >> op >> bound))
      return unreadable(criterion, "a condition needs a name, an operator and a number", state);
    if (!facts.contains(name))
      return unreadable(criterion, name + " is not one of the names", state);
    auto condition = condition_of(name, op, bound);
    if (!condition)
      return unreadable(
          criterion, fmt::format("{} {} is not an operator (>= <= > < ==) and a number", op, bound),
          state);
    conditions.push_back(*std::move(condition));
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
  const auto headline = headline_of(state);
  if (!headline) return facts;
  const auto& version = *state.find(headline->version);
  facts["median_ns"] = headline->median_ns;
  facts["bandwidth_fraction"] = version.profile->roofline.bandwidth_fraction;
  facts["compute_fraction"] = version.profile->roofline.compute_fraction;
  facts["speedup"] = headline->speedup.value_or(1);
  facts["speedup_low"] = headline->low.value_or(1);
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
