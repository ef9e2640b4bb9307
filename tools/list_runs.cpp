#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ListRunsArgs {
  int limit = 20;
  std::optional<std::string> cursor;

  static constexpr void fields(auto&& visit) {
    visit(optional<&ListRunsArgs::limit>("Maximum number of runs.", {.min = 1, .max = 100}),
          optional<&ListRunsArgs::cursor>("From next_cursor.", {.max_length = 200}));
  }
};

}  // namespace

Tool list_runs(const Services& services) {
  return make_tool<ListRunsArgs, RunList>(
      {.name = "list_runs",
       .summary = "List the runs of this server, newest first.",
       .effect = Effect::reads,
       .toolset = Toolset::loop,
       .idempotent = true},
      [&runs = services.runs](const ListRunsArgs& args, CallContext&) {
        return runs.list(args.limit, args.cursor);
      });
}

}  // namespace ratchet
