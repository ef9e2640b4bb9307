#include "kernels/process/device_contention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "kernels/process/descendants.h"
#include "server/core/process.h"

namespace ratchet {
namespace {

constexpr std::chrono::seconds kPatience(5);

std::string trimmed_field(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  const auto last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

DeviceContention on_gpu(const DeviceInfo& device, const CallContext& call) {
  const auto program = find_program("nvidia-smi");
  if (!program) return {{}, "not known: nvidia-smi is not installed"};
  ProcessSpec spec;
  spec.argv = {program->string(), "--query-compute-apps=gpu_uuid,pid,process_name",
               "--format=csv,noheader"};
  spec.environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
  const auto said = run_program(spec, kPatience, call.stop());
  if (!said || !said->status.clean()) return {{}, "not known: nvidia-smi failed"};
  return {parse_compute_apps(said->out, device.uuid, descendants_of(::getpid())), "nvidia-smi"};
}

DeviceContention on_host(const DeviceInfo& device) {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    int running = 0;
    if (word != "procs_running" || !(file >> running)) continue;
    DeviceContention found{{}, "/proc/stat"};
    if (running - 1 >= device.multiprocessors)
      found.processes.push_back(fmt::format("{} runnable threads", running - 1));
    return found;
  }
  return {{}, "not known: /proc/stat cannot be read"};
}

}  // namespace

std::vector<std::string> parse_compute_apps(const std::string& csv, const std::string& uuid,
                                            const std::vector<pid_t>& own) {
  std::vector<std::string> found;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string owner, pid, name;
    std::getline(fields, owner, ',');
    std::getline(fields, pid, ',');
    std::getline(fields, name);
    const auto number = trimmed_field(pid);
    if (trimmed_field(owner) != uuid || number.empty()) continue;
    if (std::ranges::any_of(own, [&](pid_t one) { return std::to_string(one) == number; }))
      continue;
    found.push_back(fmt::format("pid {} {}", number, trimmed_field(name)));
  }
  return found;
}

DeviceContention device_contention(const DeviceInfo& device, const CallContext& call) {
  return device.kind == DeviceKind::cuda ? on_gpu(device, call) : on_host(device);
}

std::string described(const DeviceContention& contention) {
  if (contention.source.starts_with("not known")) return "other processes: " + contention.source;
  return fmt::format("other processes: {} ({})",
                     contention.processes.empty()
                         ? "none"
                         : fmt::format("{}", fmt::join(contention.processes, ", ")),
                     contention.source);
}

}  // namespace ratchet
