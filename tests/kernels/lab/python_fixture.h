#pragma once

#include <string>

#include "server/core/files.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/support/frameworks.h"

namespace ratchet::test {

/// y = 2 x over two columns in float32, for Python kernels on the host with a Python reference.
struct PythonKernelFixture : LabFixture {
  static constexpr const char* kReference = "def reference(x, y):\n    y[:] = 2 * x\n";

  explicit PythonKernelFixture(const std::string& python = "python3");

  [[nodiscard]] Contract contract(const std::string& kernel,
                                  const std::string& reference = kReference) const;
  /// Builds the kernel, which may fail.
  Candidate build(const std::string& kernel);
  /// Builds and checks it.
  CorrectnessReport check(const std::string& kernel, const std::string& reference = kReference);
};

/// The row of that name; fails the test when there is none.
[[nodiscard]] BenchmarkRow row_named(const BenchmarkReport& report, const std::string& name);

}  // namespace ratchet::test
