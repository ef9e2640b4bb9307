#include "kernels/process/confinement.h"

#include <csignal>
#include <utility>

#include "kernels/process/control_group.h"

namespace ratchet {
namespace {

constexpr int kWeight = 50;  // a compiler waits for measurements, not they for it

}  // namespace

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

Result<ConfinedRun> run_grouped(ProcessSpec spec, std::chrono::milliseconds limit,
                                const std::stop_token& stop, std::size_t output_limit,
                                std::size_t memory_bytes) {
  const GroupLimits limits{.memory_bytes = memory_bytes, .weight = kWeight};
  const auto group = ControlGroup::make(limits);
  if (group) spec.joins = group->doors();
  auto captured = run_program(spec, limit, stop, output_limit);
  if (!captured) return captured.error();
  ConfinedRun run{*std::move(captured)};
  // Killed, and not by us at the deadline: the system does that where memory is used up. A driver
  // such as g++ outlives the pass that was killed, and its group tells.
  run.starved =
      (!run.timed_out && run.status.signal == SIGKILL) || (group && group->ran_out_of_memory());
  if (group && group->limits_memory())
    run.memory_bytes = memory_bytes == 0 ? most_memory() : memory_bytes;
  return run;
}

Result<ConfinedRun> run_confined(const ProcessSpec& spec, const Confinement& walls,
                                 std::chrono::milliseconds limit, const std::stop_token& stop,
                                 std::size_t output_limit) {
  return run_grouped(confined(spec, walls), limit, stop, output_limit, walls.memory_bytes);
}

}  // namespace ratchet
