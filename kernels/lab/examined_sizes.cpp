#include "kernels/lab/examined_sizes.h"

#include <algorithm>
#include <iterator>

#include "kernels/contract/hidden_cases.h"
#include "kernels/judge/judge.h"

namespace ratchet {
namespace {

constexpr int kHiddenCases = 2;

}  // namespace

ExaminedSizes sizes_to_check(const Contract& contract, std::string_view run_secret) {
  ExaminedSizes sizes{contract.cases};
  if (contract.given_sizes.value_or(false) || std::ranges::any_of(sizes.cases, &Case::hidden))
    return sizes;
  std::ranges::move(
      hidden_cases(contract, trial_seed(run_secret, "", "hidden cases"), kHiddenCases),
      std::back_inserter(sizes.cases));
  auto edges = edge_cases(contract, trial_seed(run_secret, "", "edge cases"));
  sizes.edges = edges.size();
  std::ranges::move(edges, std::back_inserter(sizes.cases));
  return sizes;
}

}  // namespace ratchet
