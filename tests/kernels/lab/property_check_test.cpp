// Tasks with more than one right answer, whose ref.py checks properties of it.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Both roots of 4 x² are right; the reference gives one of them.
constexpr const char* kRoots =
    "import numpy as np\n\n\n"
    "def reference(x, y):\n    y[:] = 2 * x\n\n\n"
    "def check_outputs(inputs, outputs):\n"
    "    x, y = inputs['x'], outputs['y']\n"
    "    assert y.shape == (inputs['n'] // 2, 2) and 'y' not in inputs\n"
    "    if np.all(y == 5): raise ValueError('five')\n"
    "    return '' if np.allclose(y * y, 4 * x * x) else f'y * y is off at {inputs[\"n\"]}'\n";

CorrectnessReport checked(const std::string& body) {
  PythonKernelFixture fixture;
  return fixture.check("import numpy as np\n\n\ndef run_kernel(x, y, n):\n    " + body + "\n",
                       kRoots);
}

}  // namespace

TEST_CASE("where a reference checks properties, any right answer passes",
          "[lab][python-kernel][check][slow]") {
  for (const auto* body : {"y[:] = 2 * x", "y[:] = -2 * x", "y[:] = 2 * np.abs(x)"}) {
    const auto report = checked(body);
    INFO(body);
    CHECK(report.passed);
    CHECK(report.reasons.empty());
  }
}

TEST_CASE("where a reference checks properties, what it objects to is refused with its words",
          "[lab][python-kernel][check]") {
  const auto wrong = checked("y[:] = 3 * x");

  CHECK_FALSE(wrong.passed);
  REQUIRE(has_reason(wrong, "check_failed"));
  CHECK(wrong.reasons.front().message.find("y * y is off at") != std::string::npos);
}

TEST_CASE("a check that an answer makes raise refuses that answer", "[lab][python-kernel][check]") {
  const auto raised = checked("y[:] = 5");

  REQUIRE(has_reason(raised, "check_failed"));
  CHECK(raised.reasons.front().message.find("ValueError: five") != std::string::npos);
}

TEST_CASE("a check of properties does not replace the judge", "[lab][python-kernel][check]") {
  CHECK(has_reason(checked("pass"), "output_not_written"));
  CHECK(has_reason(checked("y[:] = np.nan"), "nan_in_output"));
  // Inputs that fit the answer: the check sees those that were sent.
  CHECK(has_reason(checked("x[:] = 0; y[:] = 0"), "modified_input"));
  CHECK_FALSE(checked("x[:] = y[:] = 1").passed);
}

TEST_CASE("an answer that does not follow the inputs is refused by a check of properties",
          "[lab][python-kernel][check]") {
  PythonKernelFixture fixture;
  const auto kept = fixture.check(
      "kept = []\n\n\ndef run_kernel(x, y, n):\n    kept.append(2 * x)\n"
      "    y[:] = next(one for one in kept if one.shape == y.shape)\n",
      kRoots);

  CHECK_FALSE(kept.passed);
}
