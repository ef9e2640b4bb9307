#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

// Shipped problems: <data_dir>/problems/<name>/
//   problem.json        title, description, the task, and what differs per device (see ProblemFile)
//   reference.cpp       extern "C" void reference(...), double accumulation
//   ref.py              reference(**kwargs), numpy or torch
//   vendor.cu           optional: the same by a vendor's library, extern "C" void solve(...)
//   host-cpp/ cuda-cpp/ naive, better, best: v0 and the demo's next versions

/// Differences for one kind of device, mainly sizes.
struct ProblemDevice {
  Dims dims;
  std::vector<Case> cases;

  static constexpr void fields(auto&& visit) {
    visit(optional<&ProblemDevice::dims>("Sizes on this kind of device."),
          optional<&ProblemDevice::cases>("Workload on it."));
  }
};

/// problem.json.
struct ProblemFile {
  std::string title;
  std::string description;
  TaskRequest task;  ///< common to all devices
  std::optional<ProblemDevice> host;
  std::optional<ProblemDevice> cuda;

  static constexpr void fields(auto&& visit) {
    using P = ProblemFile;
    visit(required<&P::title>("One line."), required<&P::description>("What is computed."),
          required<&P::task>("Fields of create_run."),
          optional<&P::host>("Differences on the host."),
          optional<&P::cuda>("Differences on CUDA."));
  }
};

/// Names of the shipped problems, sorted.
[[nodiscard]] std::vector<std::string> problem_names(const std::filesystem::path& data_dir);

/// A problem for one implementation: the task with this device's sizes, v0 (naive) as kernel, the
/// C++ reference. Reads files; thread-safe. Errors: `not_found` with the existing names;
/// `invalid_argument` if the problem has no kernel for the implementation, or its problem.json is
/// wrong.
[[nodiscard]] Result<Problem> load_problem(const std::filesystem::path& data_dir,
                                           const std::string& name, Implementation implementation);

/// A kernel of a problem by its variant: "naive" (v0), "better" (v1), "best" (v2).
[[nodiscard]] Result<Source> load_problem_kernel(const std::filesystem::path& data_dir,
                                                 const std::string& name,
                                                 Implementation implementation,
                                                 const std::string& variant);

}  // namespace ratchet
