#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/process/python_fork_server.h"
#include "tests/kernels/confine/attacks/wall_attempts.h"

namespace ratchet::test {

/// A function of tests/attacks/walls/python/probes.py.
struct PythonProbe {
  std::string name;
  std::string way;
  std::string walls;  ///< empty: honest
  std::vector<std::string> roles;
  bool seen = false;  ///< counts if the harness sees the effect
};

/// The probes in Python, in the processes that run users' files.
class PythonWallProbes {
 public:
  explicit PythonWallProbes(std::string python);

  [[nodiscard]] const std::vector<PythonProbe>& probes() const { return probes_; }

  /// `role`: candidate, compiler, baseline, reference or inputs.
  [[nodiscard]] WallAttempt confined(const WallPlace& place, const PythonProbe& probe,
                                     const std::string& role);
  /// In an interpreter of its own.
  [[nodiscard]] WallAttempt free(const WallPlace& place, const PythonProbe& probe);

 private:
  [[nodiscard]] std::string text_of(const walls::Prey& prey, const PythonProbe& probe) const;

  std::string python_;
  std::string text_;
  std::vector<PythonProbe> probes_;
  std::optional<PythonForkServer> server_;  ///< started in the process that attempts
};

}  // namespace ratchet::test
