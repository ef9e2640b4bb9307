#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/suite_baselines.h"
#include "server/facts/task.h"

namespace ratchet {

// A problem is a folder: a shipped one, <data_dir>/problems/<name>/, or one that an import made.
//   problem.json        title, description, the task, and what differs per device (see ProblemFile)
//   ref.py              reference(**kwargs), numpy or torch; may define inputs(**dims, seed)
//   v0.py               optional: the kernel to start from, on every device
// Shipped ones have, beside ref.py:
//   reference.cpp       extern "C" void reference(...), double accumulation
//   ref.cu, ref_torch.py  the same for kernels on a GPU
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

/// Where an imported problem is from.
struct Provenance {
  std::string suite;
  std::string file;
  std::string digest;   ///< SHA-256 of the suite's files that were used
  std::string license;  ///< as found: file and first line; empty: none was found

  static constexpr void fields(auto&& visit) {
    using P = Provenance;
    visit(required<&P::suite>("Format it was read as."), required<&P::file>("What was read."),
          required<&P::digest>("SHA-256 of the files that were used."),
          optional<&P::license>("As found beside it."));
  }
};

/// A size that an import changed.
struct ScaledDim {
  std::string dim;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::string rule;

  static constexpr void fields(auto&& visit) {
    using S = ScaledDim;
    visit(required<&S::dim>("Size."), required<&S::from>("In the suite."),
          required<&S::to>("Here."), required<&S::rule>("Why, and how it was chosen."));
  }
};

/// problem.json.
struct ProblemFile {
  std::string title;
  std::string description;
  TaskRequest task;  ///< common to all devices
  std::optional<ProblemDevice> host;
  std::optional<ProblemDevice> cuda;
  std::optional<Provenance> provenance;
  std::vector<ScaledDim> scaled;
  std::vector<std::string> changed;
  std::vector<SuiteBaseline> suite_baselines;  ///< never measured here, nor compared with anything

  static constexpr void fields(auto&& visit) {
    using P = ProblemFile;
    visit(required<&P::title>("One line."), required<&P::description>("What is computed."),
          required<&P::task>("Fields of create_run."),
          optional<&P::host>("Differences on the host."),
          optional<&P::cuda>("Differences on CUDA."),
          optional<&P::provenance>("Where an imported problem is from."),
          optional<&P::scaled>("Sizes that differ from the suite's."),
          optional<&P::changed>("Other differences from the suite, one a line."),
          optional<&P::suite_baselines>("Times that the suite has of its own.", {.max_length = 8}));
  }
};

/// Names of the shipped problems, sorted.
[[nodiscard]] std::vector<std::string> problem_names(const std::filesystem::path& data_dir);

/// Reads problem.json. Errors: `not_found`; `invalid_argument` naming the field.
[[nodiscard]] Result<ProblemFile> read_problem(const std::filesystem::path& folder);

/// A problem for one implementation: the task with this device's sizes, v0 as kernel (an imported
/// problem has one in Python at most), the reference. `name`: of a shipped problem, or the absolute
/// path of a folder. Reads files; thread-safe. Errors: `not_found` with the existing names;
/// `invalid_argument` if a shipped problem has no kernel for the implementation, or its
/// problem.json is wrong.
[[nodiscard]] Result<Problem> load_problem(const std::filesystem::path& data_dir,
                                           const std::string& name, Implementation implementation);

/// A kernel of a shipped problem by its variant: "naive" (v0), "better" (v1), "best" (v2).
[[nodiscard]] Result<Source> load_problem_kernel(const std::filesystem::path& data_dir,
                                                 const std::string& name,
                                                 Implementation implementation,
                                                 const std::string& variant);

}  // namespace ratchet
