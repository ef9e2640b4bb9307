#include "tools/builds.h"

#include <thread>
#include <utility>

namespace ratchet {

Result<std::vector<Candidate>> build_all(Lab& lab, std::vector<BuildOrder> orders,
                                         CallContext& call) {
  std::vector<Result<Candidate>> built(orders.size(), Candidate{});
  {
    std::vector<std::jthread> builders;
    for (std::size_t i = 0; i < orders.size(); ++i)
      builders.emplace_back(
          [&, i] { built[i] = lab.build(orders[i].contract, std::move(orders[i].source), call); });
  }
  std::vector<Candidate> candidates;
  for (auto& one : built) {
    if (!one) return one.error();
    candidates.push_back(*std::move(one));
  }
  return candidates;
}

}  // namespace ratchet
