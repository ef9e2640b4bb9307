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

Json in_brief(const Json& record) {
  Json brief = Json::object();
  for (const char* kept : {"ok", "toolchain", "registers", "shared_bytes", "spill_bytes",
                           "stack_bytes", "warnings", "errors", "error_class", "hint", "cached"}) {
    const auto found = record.find(kept);
    if (found == record.end() || found->is_null() || *found == false) continue;
    if (!found->is_structured() || !found->empty()) brief[kept] = *found;
  }
  brief["ok"] = record.at("ok");
  return brief;
}

}  // namespace ratchet
