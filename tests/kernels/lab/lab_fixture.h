#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/lab.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {

/// A real laboratory in its own folder: real compiler, real workers, short deadlines.
struct LabFixture {
  TempFolder folder;
  std::unique_ptr<Lab> lab;
  CallContext call;

  /// `python`: the interpreter of references and Python kernels.
  explicit LabFixture(const std::string& python = "python3",
                      std::chrono::milliseconds timing_limit = std::chrono::seconds(1),
                      std::chrono::milliseconds job_deadline = std::chrono::milliseconds(1500));

  /// y[i] = 2 x[i] in float32, with a C++ reference. `kernel` is the body of
  /// `solve(const float* x, float* y, int n)`; `preamble` stands before it.
  [[nodiscard]] Contract doubling(const std::string& kernel, int n = 1000) const;

  /// The contract of a C++ kernel beside a C++ reference. `request`: the task, as create_run takes
  /// it.
  [[nodiscard]] Contract planned(const std::string& request, const std::string& kernel,
                                 const std::string& reference) const;

  /// Builds the contract's kernel.
  Candidate built(const Contract& contract);

  /// Builds and checks the contract's kernel.
  CorrectnessReport checked(const Contract& contract);

  /// Builds and checks a doubling kernel with this body.
  CorrectnessReport check(const std::string& body, const std::string& preamble = "");
};

/// The source of a doubling kernel.
[[nodiscard]] std::string doubling_source(const std::string& body,
                                          const std::string& preamble = "");

/// ref.py of a shipped problem.
[[nodiscard]] Source shipped_python_reference(const std::string& problem);

/// True when the report has a reason with this code.
[[nodiscard]] bool has_reason(const CorrectnessReport& report, const std::string& code);

/// "code: message" of each, a line each.
[[nodiscard]] std::string lines_of(const std::vector<Reason>& reasons);

inline constexpr const char* kHonestBody = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];";

}  // namespace ratchet::test
