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
    visit(required("run", &A::run, "Run id."),
          required("versions", &A::versions, "", {.max_length = 1000}),
          optional("mask", &A::mask, "false gives them back."),
          required("reason", &A::reason, "", {.max_length = 500}));
  }
};

}  // namespace

Tool mask_memory(const Services& services) {
  return make_tool<MaskMemoryArgs, MaskAnswer>(
      {.name = "mask_memory",
       .summary = "Withhold versions from every answer, or give them back; nothing is deleted.",
       .effect = Effect::writes,
       .toolset = Toolset::memory,
       .idempotent = true},
      [&runs = services.runs](const MaskMemoryArgs& args, CallContext&) {
        return runs.mask(args.run, args.versions, args.mask, args.reason);
      });
}

}  // namespace ratchet
