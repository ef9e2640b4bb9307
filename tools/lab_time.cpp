#include "tools/lab_time.h"

#include <utility>

#include "server/runs/lab_accounts.h"

namespace ratchet {

Tool counting_lab_time(Tool tool, Runs& runs) {
  tool.call = [inner = std::move(tool.call), &runs](const Json& arguments, CallContext& call) {
    const auto run = arguments.is_object() ? arguments.value("run", Json()) : Json();
    if (!run.is_string()) return inner(arguments, call);
    const RunId id{run.get<std::string>()};
    const auto meter = runs.labs().meter(id);
    if (!meter) return inner(arguments, call);  // which says what is wrong with the run
    CallContext metered = call.metered_by(**meter);
    auto answer = inner(arguments, metered);
    // What cannot be recorded stays counted and is recorded with the next call's.
    (void)runs.labs().record(id, **meter);
    return answer;
  };
  return tool;
}

}  // namespace ratchet
