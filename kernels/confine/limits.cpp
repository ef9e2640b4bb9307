#include "kernels/confine/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "kernels/confine/test_switch.h"

namespace ratchet::confine {
namespace {

// What systems allow by default; containers often allow everything.
constexpr rlim_t kMostLocked = rlim_t{8} << 20U;

void limit(__rlimit_resource resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return;
  most = std::min(most, now.rlim_max);
  const rlimit wanted{most, most};
  ::setrlimit(resource, &wanted);
}

}  // namespace

void volunteer_for_out_of_memory() {
  std::ofstream("/proc/self/oom_score_adj") << "1000";
}

void limit_resources(const Profile& profile, bool counts_processes) {
  if (taken_out("limits")) return;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_RTPRIO, 0);
  limit(RLIMIT_NICE, 0);
  limit(RLIMIT_MEMLOCK, kMostLocked);
  limit(RLIMIT_NOFILE, profile.descriptors);
  if (!counts_processes) return;
  limit(RLIMIT_NPROC, profile.processes);
  limit(RLIMIT_SIGPENDING, profile.processes);  // timers, too
}

}  // namespace ratchet::confine
