#include "server/runs_command.h"

#include "server/core/fields.h"
#include "server/run_pages.h"
#include "server/runs/lab_accounts.h"

namespace ratchet {
namespace {

Status change_budget(Runs& runs, const Options& options) {
  if (!options.max_lab_seconds && !options.max_cost)
    return invalid_argument("budget: no limit is given", "Give --max-lab-seconds or --max-cost.");
  return runs.labs().change_budget(RunId{options.run}, {.max_lab_seconds = options.max_lab_seconds,
                                                        .max_cost = options.max_cost});
}

}  // namespace

Result<RunsReport> run_runs_command(Runs& runs, const Options& options) {
  if (options.command == "runs") {
    const auto list = runs.list(options.limit, {});
    if (!list) return list.error();
    const Json body = encode(*list);
    return RunsReport{body, runs_table(body)};
  }
  if (options.command == "budget")
    if (auto changed = change_budget(runs, options); !changed) return changed.error();
  const auto status = runs.status(RunId{options.run});
  if (!status) return status.error();
  const Json body = encode(*status);
  return RunsReport{body, run_page(body)};
}

}  // namespace ratchet
