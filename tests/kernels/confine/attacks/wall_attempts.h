#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/attacks/walls/probe.h"

namespace ratchet::test {

/// What became of one attempt of a probe.
struct WallAttempt {
  std::string probe;
  int variant = 0;
  bool done = false;  ///< the attack worked
  std::string how;    ///< "EACCES", "forbidden call: chmod", or what it changed
};

/// Who attempts, and where.
struct WallPlace {
  uid_t neighbor = 0;   ///< the user of another kernel's worker
  std::string without;  ///< walls that are taken out, separated by commas
};

/// What the folder of an ended process shows of an attack: "a setuid file"; empty: nothing.
[[nodiscard]] std::string left_in(const std::filesystem::path& folder);
/// Whether a process of a probe has outlived its worker; ends it.
[[nodiscard]] std::string left_behind();
/// Also what probes make hard to remove.
void remove_folder(const std::filesystem::path& folder);

/// The probes, compiled as a kernel is, and the descriptions in them.
class WallProbes {
 public:
  WallProbes();
  [[nodiscard]] const std::vector<walls::Family>& families() const { return families_; }

  /// In a real worker of the role candidate.
  [[nodiscard]] WallAttempt confined(const WallPlace& place, const walls::Probe& probe,
                                     int variant) const;
  /// In a child process without any confinement.
  [[nodiscard]] WallAttempt free(const WallPlace& place, const walls::Probe& probe,
                                 int variant) const;

 private:
  std::filesystem::path path_;
  std::string content_;
  std::vector<walls::Family> families_;
  void (*solve_)(const void*, void*) = nullptr;
};

/// A child process that is an ordinary user, or cannot make namespaces, as in most containers.
struct WallChild {
  bool ordinary = false;
  bool namespaces = true;
};

/// What `attempt` returns in such children, which have a terminal of their own and share the work:
/// each does what its `mine` answers with true, which must be asked once for each piece.
[[nodiscard]] std::vector<WallAttempt> in_wall_children(
    const WallChild& child,
    const std::function<std::vector<WallAttempt>(const std::function<bool()>& mine)>& attempt);

}  // namespace ratchet::test
