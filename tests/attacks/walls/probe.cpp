#include "tests/attacks/walls/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

namespace ratchet::walls {

bool leave_proof() {
  const int file = ::open("proof", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  ::close(file);
  return true;
}

void wait_for_watch(const Prey& prey) {
  const timespec pause{prey.pause_ms / 1000, prey.pause_ms % 1000 * 1'000'000L};
  ::nanosleep(&pause, nullptr);
}

std::vector<Family> families() {
  return {reading(),    writing(),  metadata(),          attributes(), signals(),       tracing(),
          scheduling(), network(),  namespaces(),        mounts(),     shared_memory(), limits(),
          processes(),  controls(), kernel_interfaces(), machine(),    devices(),       honest()};
}

}  // namespace ratchet::walls

/// The kernel's entry; see Prey and Report.
extern "C" __attribute__((visibility("default"))) void solve(const void* in, void* out) {
  using namespace ratchet::walls;  // NOLINT(google-build-using-namespace): a C function outside
  const auto& prey = *static_cast<const Prey*>(in);
  auto& report = *static_cast<Report*>(out);
  report = {};
  for (const auto& family : families())
    for (const auto& probe : family.probes) {
      if (std::string_view(probe.name) != prey.probe.data()) continue;
      for (int i = 0; i < family.targets && report.done == 0; ++i) {
        errno = 0;
        report.done = probe.attempt(prey, prey.targets.at(static_cast<std::size_t>(i))) ? 1 : 0;
        report.error = errno;
      }
    }
}

/// All families, for the harness, which loads this library too.
extern "C" __attribute__((visibility("default"))) void wall_probes(void* families) {
  using namespace ratchet::walls;  // NOLINT(google-build-using-namespace): a C function outside
  *static_cast<std::vector<Family>*>(families) = ratchet::walls::families();
}
