#include "kernels/confine/profile.h"

#include <linux/capability.h>

#include <array>
#include <utility>

namespace ratchet::confine {
namespace {

constexpr std::uint64_t kCounting = 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_PERFMON;

constexpr std::array<std::pair<std::string_view, Role>, 9> kNames{{
    {"judge", Role::judge},
    {"candidate", Role::candidate},
    {"counter", Role::counter},
    {"compiler", Role::compiler},
    {"baseline", Role::baseline},
    {"tool", Role::tool},
    {"profiled", Role::profiled},
    {"build", Role::build},
    {"reader", Role::reader},
}};

// clang-format off
/// On the processor. Its counters are opened before the walls are entered: they need the server's own
/// user.
constexpr Profile host_profile(Role role) {
  switch (role) {
    //                   programs  root  user  after isolated devices        capabilities fds  processes
    case Role::judge:
    case Role::candidate:
    case Role::counter:
    case Role::tool:
    case Role::profiled: return {false, true, true, true,  true, Devices::null, 0,        512,  1024};
    case Role::compiler:
    case Role::baseline: return {true,  true, true, true,  true, Devices::null, 0,        1024, 1024};
    case Role::build:
    case Role::reader:   return {true,  true, true, false, true, Devices::null, 0,        1024, 1024};
  }
  return {};
}

/// On a GPU. The driver keeps the server's user, and starts threads when it is opened: walls come
/// first, so that these threads inherit them. Its own root would have to hold whatever the driver
/// opens; it is used only where there is no Landlock. Profilers reach into the process over sockets
/// of their own until the device is open.
constexpr Profile cuda_profile(Role role) {
  switch (role) {
    //                   programs  root   user   after isolated devices           capabilities fds  processes
    case Role::judge:
    case Role::candidate: return {false, false, false, false, true,  Devices::gpu,      0,         4096, 4096};
    case Role::counter:   return {false, false, false, false, true,  Devices::profiler, kCounting, 4096, 4096};
    case Role::compiler:
    case Role::baseline:  return {true,  false, false, false, true,  Devices::gpu,      0,         4096, 4096};
    case Role::tool:      return {false, false, false, true,  false, Devices::profiler, 0,         4096, 4096};
    case Role::profiled:  return {false, false, false, true,  false, Devices::profiler, kCounting, 4096, 4096};
    case Role::build:
    case Role::reader:    return host_profile(role);
  }
  return {};
}
// clang-format on

}  // namespace

std::optional<Role> parse_role(std::string_view text) {
  for (const auto& [name, role] : kNames)
    if (name == text) return role;
  return std::nullopt;
}

Profile profile_of(Role role, DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_profile(role) : host_profile(role);
}

}  // namespace ratchet::confine
