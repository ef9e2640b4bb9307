#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ReviewArgs : ReviewRequest {
  RunId run;

  static constexpr void fields(auto&& visit) {
    visit(required<&ReviewArgs::run>());
    ReviewRequest::fields(visit);
  }
};

}  // namespace

Tool review(const Services& services) {
  return make_tool<ReviewArgs, ReviewAnswer>(
      {.name = "review",
       .summary = "Report which acceptance pairs are met and whether the best version may be "
                  "promoted; or give the verdict on one that needs a review.",
       .effect = Effect::writes,
       .toolset = Toolset::review},
      [&runs = services.runs](const ReviewArgs& args, CallContext&) {
        return runs.review(args.run, args);
      });
}

}  // namespace ratchet
