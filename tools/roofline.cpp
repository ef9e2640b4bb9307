#include "kernels/lab.h"
#include "server/runs/render/placed_roofline.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct RooflineArgs {
  RunId run;
  std::optional<VersionId> version;

  static constexpr void fields(auto&& visit) {
    visit(required<&RooflineArgs::run>(),
          optional<&RooflineArgs::version>("Default: the open one."));
  }
};

struct RooflineAnswer : ArtifactAnswer {
  PlacedRoofline roofline;

  static constexpr void fields(auto&& visit) {
    using A = RooflineAnswer;
    ArtifactAnswer::fields(visit);
    visit(required<&A::roofline>("Position, gaps and method budget."));
  }
};

}  // namespace

Tool roofline(const Services& services) {
  return make_tool<RooflineArgs, RooflineAnswer>(
      {.name = "roofline",
       .summary = "Place a profiled version under the measured roofs (DRAM, L2, shared memory, "
                  "arithmetic), with gaps and budget.",
       .effect = Effect::uses_device,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [services](const RooflineArgs& args, CallContext& call) -> Result<RooflineAnswer> {
        auto subject = services.runs.subject(args.run, args.version);
        if (!subject) return subject.error();
        if (!subject->profile)
          return Error{ErrorCode::wrong_stage, subject->version.text() + " has no profile",
                       "Call profile_kernel first, or name a profiled version."};
        auto report = services.lab.roofline(subject->contract, *subject->profile, call);
        if (!report) return report.error();
        const auto drawing = services.lab.drawing(*report);
        auto placed = placed_roofline(*std::move(report), *subject->profile);
        auto written = services.runs.record_analysis(
            *subject, analysis_of("roofline", *subject, placed),
            {{"roofline.json", ""}, {"roofline.svg", drawing.svg}, {"roofline.txt", drawing.text}});
        if (!written) return written.error();
        return RooflineAnswer{{*std::move(written)}, std::move(placed)};
      });
}

}  // namespace ratchet
