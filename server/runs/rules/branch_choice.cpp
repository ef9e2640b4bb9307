#include "server/runs/rules/branch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::size_t kMostLines = 4000;  // comparing takes time proportional to its square

bool clears_noise(const BranchResult& branch) {
  return branch.confirmation && branch.confirmation->verdict == Verdict::faster;
}

bool overlap(const Comparison& a, const Comparison& b) {
  return a.ci_low <= b.ci_high && b.ci_low <= a.ci_high;
}

/// Whether `a` is the better of two branches that are faster beyond the noise.
bool better(const BranchResult& a, const BranchResult& b) {
  if (overlap(*a.confirmation, *b.confirmation) && a.diff_lines != b.diff_lines)
    return a.diff_lines < b.diff_lines;
  return a.confirmation->speedup > b.confirmation->speedup;
}

/// Lines without trailing blanks.
std::vector<std::string_view> bare_lines_of(std::string_view text) {
  auto lines = lines_of(text);
  for (auto& line : lines) line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return lines;
}

int multiset_difference(const std::vector<std::string_view>& a,
                        const std::vector<std::string_view>& b) {
  std::map<std::string_view, int> count;
  for (const auto line : a) ++count[line];
  for (const auto line : b) --count[line];
  int different = 0;
  for (const auto& [line, surplus] : count) different += std::abs(surplus);
  return different;
}

std::string joined_failures(const std::vector<BranchResult>& branches) {
  std::string text;
  for (const auto& branch : branches)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", branch.name, name_of(branch.status));
  return text;
}

}  // namespace

std::vector<std::size_t> finalists(const std::vector<BranchResult>& branches) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < branches.size(); ++i)
    if (branches[i].screening && branches[i].reasons.empty()) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return branches[a].screening->speedup > branches[b].screening->speedup;
  });
  if (order.size() > kFinalists) order.resize(kFinalists);
  return order;
}

void decide(BranchesFact& fact) {
  BranchResult* champion = nullptr;
  bool any_works = false;
  for (auto& branch : fact.branches) {
    if (!branch.candidate.build.ok)
      branch.status = BranchStatus::build_failed;
    else if (!branch.correctness)
      branch.status = branch.reasons.empty() ? BranchStatus::screened_out : BranchStatus::failed;
    else if (!branch.correctness->passed)
      branch.status = BranchStatus::incorrect;
    else if (!branch.reasons.empty())
      branch.status = BranchStatus::failed;
    else
      branch.status = BranchStatus::frontier;
    any_works = any_works || branch.status == BranchStatus::frontier;
    if (branch.status != BranchStatus::frontier || !clears_noise(branch)) continue;
    if (champion == nullptr || better(branch, *champion)) champion = &branch;
  }
  if (champion != nullptr) {
    champion->status = BranchStatus::champion;
    fact.champion = champion->name;
    fact.decision = fmt::format("{} is the champion: {:.3f}x {} ({:.3f} … {:.3f})", champion->name,
                                champion->confirmation->speedup, fact.incumbent.text(),
                                champion->confirmation->ci_low, champion->confirmation->ci_high);
    return;
  }
  fact.champion.reset();
  fact.decision = any_works ? fmt::format(
                                  "no branch is faster than {} beyond the noise; all that work "
                                  "went to the frontier",
                                  fact.incumbent.text())
                            : fmt::format("no branch works: {}", joined_failures(fact.branches));
}

int diff_lines(std::string_view a, std::string_view b) {
  const auto left = bare_lines_of(a);
  const auto right = bare_lines_of(b);
  if (left.size() > kMostLines || right.size() > kMostLines)
    return multiset_difference(left, right);
  std::vector<int> row(right.size() + 1, 0);
  for (const auto line : left) {
    int diagonal = 0;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const int above = row[j + 1];
      row[j + 1] = line == right[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return static_cast<int>(left.size() + right.size()) - 2 * row.back();
}

}  // namespace ratchet
