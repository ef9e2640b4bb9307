#include <fmt/format.h>

#include "kbs/knowledge.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct EvidenceArgs : EvidenceRequest {
  RunId run;

  static constexpr void fields(auto&& visit) {
    visit(required<&EvidenceArgs::run>());
    EvidenceRequest::fields(visit);
  }
};

/// Adds the figures that the knowledge base has, each with its cited line.
Status resolve(Knowledge& knowledge, std::vector<SpecRequest>& specs) {
  for (auto& one : specs) {
    auto answer = knowledge.lookup_spec(one.product, one.metric);
    if (!answer) return answer.error();
    for (const auto& spec : answer->specs)
      one.lines.push_back(fmt::format("{}: {} ({}, {})", answer->product, spec.citation,
                                      spec.qualifier, spec.kind));
    if (answer->unknown) one.lines.push_back(fmt::format("{}: {}", one.product, *answer->unknown));
  }
  return {};
}

}  // namespace

Tool write_kbs_evidence(const Services& services) {
  return make_tool<EvidenceArgs, ArtifactAnswer>(
      {.name = "write_kbs_evidence",
       .summary =
           "Record which knowledge supports the next step. Ids must come from logged queries; the "
           "server takes values from the profile.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [services](const EvidenceArgs& args, CallContext&) -> Result<ArtifactAnswer> {
        auto request = static_cast<const EvidenceRequest&>(args);
        if (auto found = resolve(services.knowledge, request.specs); !found) return found.error();
        return services.runs.write_evidence(args.run, request);
      });
}

}  // namespace ratchet
