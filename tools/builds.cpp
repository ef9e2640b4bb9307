#include "tools/builds.h"

#include <fmt/format.h>

#include <utility>

namespace ratchet {

Contract with_flags(Contract contract, const std::vector<std::string>& flags) {
  contract.flags.insert(contract.flags.end(), flags.begin(), flags.end());
  return contract;
}

Result<std::vector<Built>> build_all(Lab& lab, const Contract& contract,
                                     const std::vector<BuildOrder>& orders, CallContext& call,
                                     const std::function<void(std::size_t, const Built&)>& told) {
  std::vector<Built> built(orders.size());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < orders.size(); ++i)
    pieces.push_back({{}, [&, i](Lab& on, const Contract& there) -> Status {
                        auto candidate =
                            on.build(with_flags(there, orders[i].flags), orders[i].source, call);
                        if (!candidate) return candidate.error();
                        built[i] = {*std::move(candidate), there.lab};
                        if (told && built[i].candidate.build.ok) told(i, built[i]);
                        return {};
                      }});
  if (auto done = lab.spread(contract, PieceWork::builds, pieces, call); !done) return done.error();
  // What a compiler elsewhere refuses may be that lab's own fault: the home has the last word.
  std::vector<Piece> again;
  for (std::size_t i = 0; i < orders.size(); ++i)
    if (!built[i].candidate.build.ok && built[i].lab != contract.lab) again.push_back(pieces[i]);
  if (auto done = lab.Lab::spread(contract, PieceWork::builds, again, call); !done)
    return done.error();
  return built;
}

Status build_at(Lab& lab, const Contract& there, const Candidate& candidate, CallContext& call) {
  const auto built = lab.build(there, candidate.source, call);
  if (!built) return built.error();
  if (built->build.binary_digest == candidate.build.binary_digest) return {};
  return Error{ErrorCode::drift,
               fmt::format("a kernel builds to another binary on {} than where it was built first",
                           there.lab ? "lab " + *there.lab : "this machine"),
               "Make the compilers of the labs of this group equal, or give them other groups."};
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
