#include "server/runs/records/stage_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ratchet {
namespace {

struct Transition {
  Stage from;
  Event event;
  Stage to;
};

// All allowed transitions; every other one is refused.
//
// A submission starts a version over. Profiling again is allowed until evidence has been written:
// evidence must be newer than its profile, so from `evidenced` on only a new submission leads back.
// Evidence and hypothesis may be rewritten; new evidence discards the hypothesis that cites it.
constexpr std::array kTransitions{
    Transition{Stage::open, Event::submitted, Stage::built},
    Transition{Stage::open, Event::build_failed, Stage::open},
    Transition{Stage::open, Event::abandoned, Stage::abandoned},
    Transition{Stage::open, Event::sanitized, Stage::open},  // of a kernel that failed its check
    Transition{Stage::open, Event::proposed, Stage::open},
    Transition{Stage::open, Event::explored, Stage::correct},
    Transition{Stage::open, Event::branches_failed, Stage::open},

    Transition{Stage::built, Event::submitted, Stage::built},
    Transition{Stage::built, Event::build_failed, Stage::built},
    Transition{Stage::built, Event::checked, Stage::correct},
    Transition{Stage::built, Event::check_failed, Stage::open},
    Transition{Stage::built, Event::sanitized, Stage::built},

    Transition{Stage::correct, Event::submitted, Stage::built},
    Transition{Stage::correct, Event::build_failed, Stage::correct},
    Transition{Stage::correct, Event::checked, Stage::correct},
    Transition{Stage::correct, Event::check_failed, Stage::open},
    Transition{Stage::correct, Event::profiled, Stage::profiled},
    Transition{Stage::correct, Event::profile_invalid, Stage::open},
    Transition{Stage::correct, Event::benchmarked, Stage::correct},
    Transition{Stage::correct, Event::sanitized, Stage::correct},

    Transition{Stage::profiled, Event::submitted, Stage::built},
    Transition{Stage::profiled, Event::build_failed, Stage::profiled},
    Transition{Stage::profiled, Event::profiled, Stage::profiled},
    Transition{Stage::profiled, Event::profile_invalid, Stage::open},
    Transition{Stage::profiled, Event::evidence_written, Stage::evidenced},
    Transition{Stage::profiled, Event::benchmarked, Stage::profiled},
    Transition{Stage::profiled, Event::sanitized, Stage::profiled},
    Transition{Stage::profiled, Event::ablated, Stage::profiled},

    Transition{Stage::evidenced, Event::submitted, Stage::built},
    Transition{Stage::evidenced, Event::build_failed, Stage::evidenced},
    Transition{Stage::evidenced, Event::evidence_written, Stage::evidenced},
    Transition{Stage::evidenced, Event::hypothesis_written, Stage::hypothesized},
    Transition{Stage::evidenced, Event::final_gate_passed, Stage::finished},
    Transition{Stage::evidenced, Event::benchmarked, Stage::evidenced},
    Transition{Stage::evidenced, Event::sanitized, Stage::evidenced},
    Transition{Stage::evidenced, Event::ablated, Stage::evidenced},

    Transition{Stage::hypothesized, Event::submitted, Stage::built},
    Transition{Stage::hypothesized, Event::build_failed, Stage::hypothesized},
    Transition{Stage::hypothesized, Event::evidence_written, Stage::evidenced},
    Transition{Stage::hypothesized, Event::hypothesis_written, Stage::hypothesized},
    Transition{Stage::hypothesized, Event::gate_passed, Stage::passed},
    Transition{Stage::hypothesized, Event::final_gate_passed, Stage::finished},
    Transition{Stage::hypothesized, Event::benchmarked, Stage::hypothesized},
    Transition{Stage::hypothesized, Event::sanitized, Stage::hypothesized},
    Transition{Stage::hypothesized, Event::ablated, Stage::hypothesized},

    Transition{Stage::abandoned, Event::final_gate_passed, Stage::finished},

    Transition{Stage::finished, Event::benchmarked, Stage::finished},
    Transition{Stage::finished, Event::sanitized, Stage::finished},
    Transition{Stage::finished, Event::reported, Stage::finished},
    Transition{Stage::finished, Event::tuned, Stage::finished},
};

std::string_view needs(Event event) {
  switch (event) {
    case Event::submitted:
    case Event::build_failed:
      return "a kernel can only be submitted to an open version";
    case Event::checked:
    case Event::check_failed:
      return "only a built kernel that was not profiled yet can be checked";
    case Event::profiled:
    case Event::profile_invalid:
      return "only a kernel that passed its check, and has no evidence yet, can be profiled";
    case Event::evidence_written:
      return "evidence is written for a profiled version";
    case Event::hypothesis_written:
      return "a hypothesis is written for a version with evidence";
    case Event::gate_passed:
      return "the gate closes a version with profile, evidence and hypothesis";
    case Event::final_gate_passed:
      return "the final gate closes a last version with profile and evidence";
    case Event::abandoned:
      return "only a version without a working kernel can be abandoned";
    case Event::benchmarked:
      return "only a kernel that passed its check can be benchmarked";
    case Event::sanitized:
      return "compute-sanitizer runs only the kernel of the open version";
    case Event::reported:
      return "reports are written after the final gate";
    case Event::proposed:
      return "methods are proposed for an open version without a kernel";
    case Event::explored:
    case Event::branches_failed:
      return "branches are explored for an open version without a kernel";
    case Event::ablated:
      return "only a profiled kernel can be ablated";
    case Event::tuned:
      return "a dispatcher is tuned after the final gate";
  }
  return "";
}

}  // namespace

Result<Stage> advance(Stage stage, Event event) {
  const auto* const row = std::ranges::find_if(kTransitions, [&](const Transition& transition) {
    return transition.from == stage && transition.event == event;
  });
  if (row != kTransitions.end()) return row->to;
  return Error{ErrorCode::wrong_stage,
               fmt::format("it is at stage {}, but {}", name_of(stage), needs(event)), ""};
}

}  // namespace ratchet
