#include "tools/all.h"

namespace ratchet {
namespace {

struct EvidenceArgs : EvidenceRequest {
  RunId run;

  static constexpr auto fields() {
    return std::tuple_cat(std::tuple{required("run", &EvidenceArgs::run, "Run id.")},
                          EvidenceRequest::fields());
  }
};

}  // namespace

Tool write_kbs_evidence(const Services& services) {
  return make_tool<EvidenceArgs, ArtifactAnswer>(
      {.name = "write_kbs_evidence",
       .summary =
           "Record which knowledge decides the next step; ids must come from logged queries, "
           "values come from the profile.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [&runs = services.runs](const EvidenceArgs& args, CallContext&) {
        return runs.write_evidence(args.run, args);
      });
}

}  // namespace ratchet
