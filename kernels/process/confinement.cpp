#include "kernels/process/confinement.h"

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

Result<Captured> run_confined(const ProcessSpec& spec, const Confinement& walls,
                              std::chrono::milliseconds limit, const std::stop_token& stop,
                              std::size_t output_limit) {
  auto started = confined(spec, walls);
  const auto group = ControlGroup::make({.weight = kWeight});
  if (group) started.joins = group->doors();
  return run_program(started, limit, stop, output_limit);
}

}  // namespace ratchet
