#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct SanitizeArgs {
  RunId run;
  std::vector<SanitizerTool> tools;
  std::optional<Dims> dims;

  static constexpr void fields(auto&& visit) {
    using A = SanitizeArgs;
    visit(
        required<&A::run>(), optional<&A::tools>("Default: all.", {.max_length = 4}),
        optional<&A::dims>("Sizes for this check. Default: the smallest given case.", {.min = 1}));
  }
};

struct SanitizeAnswer : SanitizerReport {
  bool clean = false;
  std::vector<std::string> artifacts;

  static constexpr void fields(auto&& visit) {
    using A = SanitizeAnswer;
    visit(required<&A::clean>("All tools covered the whole call and found nothing."));
    SanitizerReport::fields(visit);
    visit(required<&A::artifacts>("sanitizer.md."));
  }
};

}  // namespace

Tool sanitize_kernel(const Services& services) {
  return make_tool<SanitizeArgs, SanitizeAnswer>(
      {.name = "sanitize_kernel",
       .summary = "Run the open version's CUDA kernel under compute-sanitizer: memory, race, "
                  "initialization and barrier errors by line.",
       .effect = Effect::uses_device,
       .toolset = Toolset::analysis},
      [services](const SanitizeArgs& args, CallContext& call) -> Result<SanitizeAnswer> {
        auto permit = services.runs.permit(args.run, Event::sanitized);
        if (!permit) return permit.error();
        if (!permit->candidate)
          return Error{ErrorCode::wrong_stage, "the open version has no kernel that builds yet",
                       "Call submit_kernel first."};
        SanitizeRequest request{&*permit->candidate, args.tools, args.dims};
        if (request.tools.empty())
          for (const auto& [tool, name] : enum_names(SanitizerTool{}))
            request.tools.push_back(tool);
        auto report = services.lab.sanitize(permit->contract, request, call);
        if (!report) return report.error();
        auto written = services.runs.record_sanitizer(*permit, *report);
        if (!written) return written.error();
        return SanitizeAnswer{*report, report->clean(), written->artifacts};
      });
}

}  // namespace ratchet
