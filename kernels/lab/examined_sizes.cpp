#include "kernels/lab/examined_sizes.h"

#include <algorithm>
#include <utility>

#include "kernels/contract/hidden_cases.h"
#include "kernels/judge/judge.h"

namespace ratchet {
namespace {

constexpr int kHiddenCases = 2;

void append(std::vector<Case>& cases, std::vector<Case> more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

}  // namespace

ExaminedSizes sizes_to_check(const Contract& contract, std::string_view run_secret) {
  ExaminedSizes sizes{contract.cases};
  if (std::ranges::any_of(sizes.cases, &Case::hidden)) return sizes;
  append(sizes.cases,
         hidden_cases(contract, trial_seed(run_secret, "", "hidden cases"), kHiddenCases));
  auto edges = edge_cases(contract, trial_seed(run_secret, "", "edge cases"));
  sizes.edges = edges.size();
  append(sizes.cases, std::move(edges));
  return sizes;
}

}  // namespace ratchet
