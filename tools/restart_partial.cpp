#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct RestartArgs {
  RunId run;
  bool confirm = false;

  static constexpr void fields(auto&& visit) {
    visit(required<&RestartArgs::run>(),
          optional<&RestartArgs::confirm>("Confirms that half of the versions are masked."));
  }
};

}  // namespace

Tool restart_partial(const Services& services) {
  return make_tool<RestartArgs, MaskAnswer>(
      {.name = "restart_partial",
       .summary = "When no direction is left: mask half of the versions, drawn by the server; v0, "
                  "the best and the open one stay.",
       .effect = Effect::destroys,
       .toolset = Toolset::memory},
      [&runs = services.runs](const RestartArgs& args, CallContext& call) -> Result<MaskAnswer> {
        const Error unasked{ErrorCode::not_permitted,
                            "confirm: half of the run's versions would be masked",
                            "Call again with confirm=true; mask_memory can unmask versions later."};
        if (!args.confirm)
          if (call.confirm("Mask half of this run's versions, so that no answer shows them?") !=
              Consent::granted)
            return unasked;
        return runs.restart_partial(args.run);
      });
}

}  // namespace ratchet
