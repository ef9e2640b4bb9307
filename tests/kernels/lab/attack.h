#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/lab.h"

namespace ratchet::test {

/// One kernel of tests/attacks/, with the expectations in its head.
///
/// `stage` is where it must be detected: build, admit (task validation), check, search (of values,
/// after the check), profile, or `any` of check and profile. `shown`: harmless, because the build
/// reports it. `pass`: honest. `flag`: its time has the caveat that `reasons` names. `time`:
/// harmless if its time is at least `least_ns`. `like`: harmless if it is no faster than the kernel
/// that `reasons` names.
struct Attack {
  std::string name;  ///< "host/cache_by_pointer.cpp"
  std::string text;
  std::vector<std::string> catalog;  ///< ids; "honest" for those that must pass
  std::string task;
  std::string stage;
  std::vector<std::string> reasons;  ///< any of these codes (build: part of the message)
  double least_ns = 0;
  bool needs_gpu = false;
  double search = 0;  ///< seconds to search for bad values
};

/// tests/attacks of the source tree.
[[nodiscard]] std::filesystem::path attacks_folder();

/// The attacks of a folder ("host", "cuda" or "python"), sorted by name. A head that cannot be read
/// fails the running test.
[[nodiscard]] std::vector<Attack> attacks_of(const std::string& folder);

/// The task that an attack names, as create_run takes it, and its reference for the host, in C++
/// (".cpp") or in torch (".py").
struct AttackTask {
  TaskRequest request;
  Source reference;
};
[[nodiscard]] AttackTask host_task(const std::string& name, const std::string& suffix = ".cpp");

}  // namespace ratchet::test
