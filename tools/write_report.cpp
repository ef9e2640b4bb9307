#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ReportArgs {
  RunId run;
  std::string retrospective;

  static constexpr void fields(auto&& visit) {
    visit(required<&ReportArgs::run>(),
          optional<&ReportArgs::retrospective>("Text for the last section of the report.",
                                               {.max_length = 20000}));
  }
};

}  // namespace

Tool write_report(const Services& services) {
  return make_tool<ReportArgs, ReportAnswer>(
      {.name = "write_report",
       .summary = "Render the final report from the ledger, after the final gate.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [&runs = services.runs](const ReportArgs& args, CallContext&) {
        return runs.write_report(args.run, args.retrospective);
      });
}

}  // namespace ratchet
