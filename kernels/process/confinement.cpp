#include "kernels/process/confinement.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "kernels/process/watchdog.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr int kWeight = 50;  // a compiler waits for measurements, not they for it
constexpr std::chrono::milliseconds kLook(500);
constexpr int kRest = 100;  // a look at a machine full of processes takes a hundredth of the time

}  // namespace

std::string ConfinedRun::ending() const {
  if (excess) return excess->message;
  return timed_out ? "deadline" : status.text();
}

ProcessSpec confined(ProcessSpec spec, const Confinement& walls, bool writes) {
  if (walls.program.empty()) return spec;
  std::vector<std::string> argv{walls.program.string(), walls.role,
                                writes ? spec.folder.string() : ""};
  argv.insert(argv.end(), walls.readable.begin(), walls.readable.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  spec.argv = std::move(argv);
  for (auto& variable : inherited_environment({"RATCHET_REQUIRE_SANDBOX"}))
    spec.environment.push_back(std::move(variable));
  return spec;
}

Result<ConfinedRun> run_counted(ProcessSpec spec, std::chrono::milliseconds limit,
                                const std::stop_token& stop, std::size_t output_limit,
                                const GroupLimits& limits, const ControlGroup* group) {
  if (group) spec.joins = group->doors();
  std::optional<Fault> excess;
  auto due = steady_clock::now() + kLook;
  const auto watch = [&](pid_t process) {
    const auto now = steady_clock::now();
    if (now < due) return false;
    excess = excess_of(process, limits, group);
    const auto end = steady_clock::now();
    due = end + std::max<steady_clock::duration>(kLook, (end - now) * kRest);
    return excess.has_value();
  };
  auto captured = run_program(spec, limit, stop, output_limit, watch);
  if (!captured) return captured.error();
  ConfinedRun run{*std::move(captured)};
  run.memory_bytes = memory_limit(limits.memory_bytes);
  // Killed, and not by us: the system does that where memory is used up. A driver such as g++
  // outlives the pass that was killed, and its group tells.
  run.starved = excess ? excess->kind == "out_of_memory"
                       : (!run.timed_out && run.status.signal == SIGKILL) ||
                             (group && group->ran_out_of_memory());
  run.excess = std::move(excess);
  return run;
}

Result<ConfinedRun> run_grouped(ProcessSpec spec, std::chrono::milliseconds limit,
                                const std::stop_token& stop, std::size_t output_limit,
                                std::size_t memory_bytes) {
  const GroupLimits limits{.memory_bytes = memory_bytes, .weight = kWeight};
  const auto group = ControlGroup::make(limits);
  return run_counted(std::move(spec), limit, stop, output_limit, limits, group ? &*group : nullptr);
}

Result<ConfinedRun> run_confined(const ProcessSpec& spec, const Confinement& walls,
                                 std::chrono::milliseconds limit, const std::stop_token& stop,
                                 std::size_t output_limit) {
  return run_grouped(confined(spec, walls), limit, stop, output_limit, walls.memory_bytes);
}

}  // namespace ratchet
