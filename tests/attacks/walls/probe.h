#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Small programs that try to leave the confinement of an untrusted kernel, each in one way.
///
/// All are compiled into one library with one entry, `solve`, as a kernel has it: its input is a
/// `Prey`, which names the probe and what it is to reach; its output is a `Report`. The same
/// library runs in a real worker and, to see that each attack works at all, without confinement.
namespace ratchet::walls {

/// What stands between a kernel and the rest of the machine. `Probe::walls` names those that each
/// stop the probe alone.
enum Wall : unsigned {
  kSeccomp = 1U << 0U,   ///< the filter of system calls
  kLandlock = 1U << 1U,  ///< files, ports, and the scopes of signals and abstract sockets
  kMounts = 1U << 2U,    ///< a private root, without the others' files
  kUser = 1U << 3U,      ///< a user of its own where the server is root, and no capabilities
  kLimits = 1U << 4U,    ///< on descriptors, processes, core dumps and timers
  /// The server: it starts the process in a session of its own, limits memory and files, looks at
  /// what it takes, and ends all that it started.
  kServer = 1U << 5U,
};

inline constexpr std::string_view kSecret = "key_of_the_ledger_5a1b";

/// What somebody else has: the server, or another kernel's worker.
struct Target {
  std::array<char, 128> folder{};  ///< with `secret`, a link to it, and an empty folder `empty`
  std::array<char, 128> secret{};  ///< a file that starts with kSecret
  std::array<char, 108> door{};    ///< the path of a listening socket
  std::array<char, 64> name{};     ///< of a listening abstract socket, without the leading zero
  int process = 0;                 ///< counts SIGUSR1 and SIGIO that it gets
  int file = 0;                    ///< its descriptor of `secret`
  int pipe = 0;                    ///< its descriptor to write to a pipe of its own
  std::uint64_t address = 0;       ///< of kSecret in its memory
};

struct Prey {
  std::array<char, 48> probe{};  ///< its name
  int variant = 0;               ///< below Probe::variants
  std::array<char, 48> mark{};   ///< the name of what a probe leaves in shared folders
  int key = 0;                   ///< and of shared memory, semaphores and messages
  int port = 0;                  ///< of a TCP server on the loopback
  std::int64_t memory = 0;       ///< more bytes than the worker may have
  std::int64_t disk = 0;         ///< more bytes than its folder may hold
  int count = 0;                 ///< more threads, processes or descriptors than it may have
  int pause_ms = 0;              ///< after which the server has noticed an amount
  std::array<Target, 2> targets;
};

struct Report {
  int done = 0;   ///< 1: the attack worked
  int error = 0;  ///< otherwise errno
};

enum Trait : unsigned {
  kPlain = 0,
  kRoot = 1U << 0U,     ///< works only for root, also without confinement
  kTracing = 1U << 1U,  ///< works only where Yama does not restrict tracing to children
  kSeen = 1U << 2U,     ///< counts if the harness sees the effect, whatever the call returned
};

struct Probe {
  const char* name;
  const char* way;
  unsigned walls;
  /// True if the attack worked.
  bool (*attempt)(const Prey&, const Target&);
  unsigned traits = kPlain;
  int variants = 1;  ///< of one way, each tried in a process of its own
  /// Why no wall stops it; null where one does.
  const char* open = nullptr;
};

/// A family of probes; `honest` holds what a kernel must still be able to do.
struct Family {
  const char* name;
  std::span<const Probe> probes;
  int targets = 1;  ///< how many it is tried on; 1 where it reaches for none
};

[[nodiscard]] std::vector<Family> families();

/// A system call that got past the permission checks, whatever it then said.
inline bool passes(long result) {
  return result >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS);
}

/// Waits until the server must have noticed what the process has taken.
void wait_for_watch(const Prey& prey);

/// Leaves a file `proof` in the own folder: for attacks after which the process is another one.
bool leave_proof();

Family reading(), writing(), metadata(), attributes(), signals(), tracing(), scheduling(),
    network(), namespaces(), mounts(), shared_memory(), limits(), processes(), controls(),
    kernel_interfaces(), machine(), devices(), honest();

}  // namespace ratchet::walls
