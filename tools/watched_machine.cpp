#include "tools/watched_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/facts/traits.h"
#include "server/runs/lab_accounts.h"

namespace ratchet {
namespace {

/// What times of this run may depend on.
Traits traits_for(const MeasuredOn& run, const Environment& environment) {
  constexpr int kNone = -1;
  return traits_of(environment, run.kind == DeviceKind::cuda ? run.device : kNone);
}

}  // namespace

class WatchedMachine::Looks {
 public:
  Looks(Runs& runs, Lab& lab) : runs_(runs), lab_(lab) {}

  /// Empty: there is no such run, as the tool says itself.
  std::optional<MeasuredOn> state_of(const RunId& run) {
    auto on = runs_.labs().measured_on(run);
    return on ? std::optional(*std::move(on)) : std::nullopt;
  }

  /// What to say after a call; empty: nothing.
  std::string look(const RunId& run, const MeasuredOn& before, CallContext& call) {
    const auto now = runs_.labs().measured_on(run);  // a call may have moved it
    if (!now || call.canceled()) return "";
    const std::pair at{now->lab, starts(now->lab)};
    {
      const std::scoped_lock lock(mutex_);
      if (const auto last = last_.find(run.text); last != last_.end() && last->second == at)
        return "";
    }
    const auto lab = lab_.named(now->lab.empty() ? std::nullopt : std::optional(now->lab));
    if (!lab) return "";
    CallContext quiet({}, call.stop());
    if (call.meter()) quiet = quiet.metered_by(*call.meter());
    const auto machine = (*lab)->machine(now->device, quiet);
    if (!machine) return "";
    const auto here = traits_for(*now, *machine);
    const bool known = traits_for(*now, now->environment) == here;
    if (!known && !recorded(run, **lab, now->device, quiet)) return "";
    {
      const std::scoped_lock lock(mutex_);
      last_[run.text] = at;
    }
    const auto changed = differences(traits_for(before, before.environment), here, "now");
    if (changed.empty()) return "";
    return fmt::format(
        "\nSince run {} recorded what it is measured with, this has changed: {}. It is recorded, "
        "and in env_check.md. Verdicts stand: versions are compared within one session, never by "
        "times from before and after. Noise and roofs are measured again for another driver. "
        "Kernels that are built keep their binaries: with another compiler, a gain over them may "
        "be the compiler's.",
        run.text, fmt::join(changed, "; "));
  }

 private:
  bool recorded(const RunId& run, Lab& lab, int device, CallContext& call) {
    const auto environment = lab.environment(device, call);
    return environment && runs_.record_environment(run, *environment);
  }

  /// How often the lab's command was started.
  [[nodiscard]] int starts(const std::string& lab) const {
    const auto labs = lab_.labs();
    const auto found = std::ranges::find(labs, lab, &LabState::name);
    return found == labs.end() ? 0 : found->starts;
  }

  Runs& runs_;
  Lab& lab_;
  std::mutex mutex_;
  std::map<std::string, std::pair<std::string, int>> last_;  ///< by run: its lab, and that start
};

WatchedMachine::WatchedMachine(Runs& runs, Lab& lab) : looks_(std::make_shared<Looks>(runs, lab)) {}

Tool WatchedMachine::told_by(Tool tool) const {
  tool.call = [inner = std::move(tool.call), looks = looks_](const Json& arguments,
                                                             CallContext& call) {
    const auto run = arguments.is_object() ? arguments.value("run", Json()) : Json();
    if (!run.is_string()) return inner(arguments, call);
    const RunId id{run.get<std::string>()};
    const auto before = looks->state_of(id);
    auto answer = inner(arguments, call);
    if (before && !answer.is_error) answer.text += looks->look(id, *before, call);
    return answer;
  };
  return tool;
}

}  // namespace ratchet
