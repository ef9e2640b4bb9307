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

  /// What the run recorded; empty where there is nothing to look at: no such run, as the tool says
  /// itself, or one that was looked at since its lab was started.
  std::optional<MeasuredOn> unseen(const RunId& run) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto last = last_.find(run.text);
          last != last_.end() && starts(last->second.first) == last->second.second)
        return std::nullopt;
    }
    auto on = runs_.labs().measured_on(run);
    return on ? std::optional(*std::move(on)) : std::nullopt;
  }

  /// After `create_run`, which has recorded what there is.
  void note_created(const Json& answer) {
    const auto run = answer.find("run");
    if (run != answer.end() && run->is_string())
      note(run->get<std::string>(), answer.value("lab", ""));
  }
  /// After a call that failed another lab may have the run.
  void forget(const RunId& run) {
    const std::scoped_lock lock(mutex_);
    last_.erase(run.text);
  }

  /// What to say after a call; empty: nothing.
  std::string look(const RunId& run, const MeasuredOn& on, CallContext& call) {
    const auto lab = lab_.named(on.lab.empty() ? std::nullopt : std::optional(on.lab));
    if (!lab || call.canceled()) return "";
    CallContext quiet({}, call.stop());
    if (call.meter()) quiet = quiet.metered_by(*call.meter());
    const auto machine = (*lab)->machine(on.device, quiet);
    if (!machine) return "";
    const auto here = traits_for(on, *machine);
    const auto changed = differences(traits_for(on, on.environment), here, "now");
    if (!changed.empty() && !keep(run, here, **lab, quiet)) return "";
    note(run.text, on.lab);
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
  void note(const std::string& run, const std::string& lab) {
    const std::scoped_lock lock(mutex_);
    last_[run] = {lab, starts(lab)};
  }

  /// Records what there is now, unless the call did. Returns whether it is recorded.
  bool keep(const RunId& run, const Traits& here, Lab& lab, CallContext& call) {
    const auto now = runs_.labs().measured_on(run);
    if (!now) return false;
    if (traits_for(*now, now->environment) == here) return true;
    const auto environment = lab.environment(now->device, call);
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
    if (!run.is_string()) {
      auto answer = inner(arguments, call);
      if (!answer.is_error && answer.structured.is_object()) looks->note_created(answer.structured);
      return answer;
    }
    const RunId id{run.get<std::string>()};
    const auto unseen = looks->unseen(id);
    auto answer = inner(arguments, call);
    if (answer.is_error)
      looks->forget(id);
    else if (unseen)
      answer.text += looks->look(id, *unseen, call);
    return answer;
  };
  return tool;
}

}  // namespace ratchet
