#include "tools/all.h"

namespace ratchet {
namespace {

struct RestartArgs {
  RunId run;
  bool confirm = false;

  static constexpr void fields(auto&& visit) {
    visit(required("run", &RestartArgs::run, "Run id."),
          optional("confirm", &RestartArgs::confirm, "Yes, mask half."));
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
                            "confirm: half of the run's memory would be withheld",
                            "Call again with confirm; mask_memory gives versions back."};
        if (!args.confirm)
          if (call.confirm("Withhold half of this run's versions from every answer?") !=
              Consent::granted)
            return unasked;
        return runs.restart_partial(args.run);
      });
}

}  // namespace ratchet
