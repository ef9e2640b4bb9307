#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct MaskMemoryArgs {
  RunId run;
  std::vector<VersionId> versions;
  bool mask = true;
  std::string reason;

  static constexpr void fields(auto&& visit) {
    using A = MaskMemoryArgs;
    visit(required<&A::run>(),
          required<&A::versions>("Versions to mask or unmask.", {.max_length = 1000}),
          optional<&A::mask>("false makes them visible again."),
          required<&A::reason>("Why; recorded in the ledger.", {.max_length = 500}));
  }
};

}  // namespace

Tool mask_memory(const Services& services) {
  return make_tool<MaskMemoryArgs, MaskAnswer>(
      {.name = "mask_memory",
       .summary =
           "Withhold versions from every answer, or make them visible again; nothing is deleted.",
       .effect = Effect::writes,
       .toolset = Toolset::memory,
       .idempotent = true},
      [&runs = services.runs](const MaskMemoryArgs& args, CallContext&) {
        return runs.mask(args.run, args.versions, args.mask, args.reason);
      });
}

}  // namespace ratchet
