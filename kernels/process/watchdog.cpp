#include "kernels/process/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "kernels/process/descendants.h"

namespace ratchet {

std::size_t resident_bytes_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<Fault> excess_of(pid_t process, const GroupLimits& limits,
                               const ControlGroup* group) {
  const bool counts_memory = !group || !group->limits_memory();
  const bool counts_processes = !group || !group->limits_processes();
  if (!counts_memory && !counts_processes) return std::nullopt;
  const auto below = descendants_of(process);
  if (counts_processes && below.size() > static_cast<std::size_t>(limits.processes))
    return Fault{"too_many_processes", fmt::format("started {} processes; {} are allowed",
                                                   below.size(), limits.processes)};
  if (!counts_memory) return std::nullopt;
  const std::size_t most = memory_limit(limits.memory_bytes);
  std::size_t resident = resident_bytes_of(process);
  for (const pid_t one : below) resident += resident_bytes_of(one);
  if (resident <= most) return std::nullopt;
  return Fault{"out_of_memory",
               fmt::format("used {} bytes of memory; {} are allowed", resident, most)};
}

}  // namespace ratchet
