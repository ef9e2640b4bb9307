#include "tools/lab_time.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "server/runs/lab_accounts.h"

namespace ratchet {
namespace {

/// What becomes of a run after a call on it failed; empty: it stays where it is.
std::string taken_over(const RunId& run, Runs& runs, Lab& lab, CallContext& call) {
  const auto on = runs.labs().measured_on(run);
  if (!on || on->lab.empty() || call.canceled()) return "";
  const auto next = lab.successor(*on, call);
  if (!next) return "\n" + next.error().message + "\n" + next.error().hint;
  if (!*next || !runs.labs().move(run, on->lab, **next)) return "";
  return "\n" + taken_over_text(*on, **next);
}

}  // namespace

std::string taken_over_text(const MeasuredOn& from, const std::string& to) {
  return fmt::format(
      "From now on the run is on lab {}, which equals {} in {}. Call again.", to, from.lab,
      from.noise ? "devices, driver, tools and noise"
                 : "devices, driver and tools; their noise was not compared, because "
                   "the run has no comparison yet to hold it against");
}

Tool on_labs(Tool tool, Runs& runs, Lab& lab) {
  tool.call = [inner = std::move(tool.call), &runs, &lab](const Json& arguments,
                                                          CallContext& call) {
    const auto run = arguments.is_object() ? arguments.value("run", Json()) : Json();
    if (!run.is_string()) return inner(arguments, call);
    const RunId id{run.get<std::string>()};
    const auto meter = runs.labs().meter(id);
    if (!meter) return inner(arguments, call);  // which says what is wrong with the run
    CallContext metered = call.metered_by(**meter);
    auto answer = inner(arguments, metered);
    if (answer.is_error) answer.text += taken_over(id, runs, lab, metered);
    // What cannot be recorded stays counted and is recorded with the next call's.
    (void)runs.labs().record(id, **meter);
    return answer;
  };
  return tool;
}

}  // namespace ratchet
