#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/facts/contract.h"

namespace ratchet::confine {

/// What an untrusted process is for. The first argument of a worker and of ratchet-confine.
enum class Role {
  judge,      ///< generates inputs and compares outputs; runs no untrusted code
  candidate,  ///< runs one untrusted kernel
  counter,    ///< runs one untrusted kernel and reads hardware counters; never times
  compiler,   ///< runs one untrusted kernel so that its own compiler fills its cache; may start
              ///< programs; neither checked nor timed
  baseline,   ///< runs a function of a reference or inputs file; may start programs
  tool,       ///< runs one untrusted kernel under an observing tool; neither checked nor timed
  profiled,   ///< as tool, under ncu, whose library in this process reads the counters
  build,      ///< a compiler, which reads an untrusted source
  reader,     ///< a disassembler or report reader, which reads an untrusted file
};

[[nodiscard]] std::optional<Role> parse_role(std::string_view text);

enum class Devices {
  null,      ///< null, zero, full, random
  gpu,       ///< the null devices and those that launch kernels
  profiler,  ///< the null devices, all of the GPU's driver, and shared memory
};

/// The walls around a process: one row of the table in profile.cpp.
struct Profile {
  bool starts_programs;  ///< may execute other programs, which inherit every wall
  bool private_root;     ///< a mount namespace that contains only what it needs
  bool own_user;         ///< when the server is root: a user of its own
  bool after_device;     ///< walls come after the device is open, not before
  bool isolated;         ///< Landlock's rules on networks and signals
  Devices devices;
  std::uint64_t capabilities;  ///< kept when the server is root; a bit per capability
  unsigned descriptors;        ///< RLIMIT_NOFILE
  unsigned processes;          ///< RLIMIT_NPROC, threads included, where the user is its own
};

[[nodiscard]] Profile profile_of(Role role, DeviceKind kind);

}  // namespace ratchet::confine
