// Tasks whose inputs come from a user's function: inputs() of ref.py, or setup() of a kernel.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A gather: y[i] = x[order[i]], with order a permutation that only the function can make.
constexpr const char* kMake =
    "import numpy as np\n"
    "def NAME(rows, cols, seed):\n"
    "    random = np.random.default_rng(seed)\n"
    "    return {'inputs': {'x': random.standard_normal((rows, cols)).astype(np.float32),\n"
    "                       'order': random.permutation(rows).astype(np.int32),\n"
    "                       'ends': np.arange(rows + 1, dtype=np.int32),\n"
    "                       'y': np.empty((rows, cols), np.float32), 'scale': 0.5, 'times': 2},\n"
    "            'outputs': ['y']}\n";
constexpr const char* kGather =
    "def run_kernel(x, order, ends, y, scale, times, **_):\n"
    "    for _ in range(times): y[:] = scale * x[order]\n";
constexpr const char* kReference =
    "def reference(x, order, y, scale, **_):\n    y[:] = scale * x[order]\n";

std::string make(const std::string& name) {
  std::string text = kMake;
  return text.replace(text.find("NAME"), 4, name);
}

Result<Contract> planned(LabFixture& fixture, const std::string& kernel,
                         const std::string& reference) {
  const auto task = decode<TaskRequest>(
      Json::parse(R"({"implementation": "host-python", "dims": {"rows": 96, "cols": 32}})"));
  REQUIRE(task);
  return fixture.lab->plan(*task, {"kernel.py", kernel, ""}, {"ref.py", reference, ""});
}

}  // namespace

TEST_CASE("inputs() of the reference determines tensors, shapes and numbers of a task",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto contract = planned(fixture, kGather, make("inputs") + kReference);

  if (!contract) FAIL(contract.error().message);
  REQUIRE(contract->tensors.size() == 4);
  const auto tensor = [&](const std::string& name) {
    return *std::ranges::find(contract->tensors, name, &TensorSpec::name);
  };
  CHECK(tensor("x").shape == std::vector<std::string>{"rows", "cols"});
  CHECK(tensor("order").dtype == DType::i32);
  CHECK(tensor("ends").shape == std::vector<std::string>{"1*rows + 1"});
  CHECK(tensor("y").role == Role::out);
  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  if (!report) FAIL(report.error().message);
  CHECK(report->passed);
}

TEST_CASE("a kernel that assumes more than inputs() guarantees fails", "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = planned(
      fixture, "def run_kernel(x, y, scale, **_):\n    y[:] = scale * x\n",  // order = 0, 1, 2 …
      make("inputs") + kReference);
  REQUIRE(contract);

  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("inputs that the first kernel's setup() makes are used, and flagged",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = planned(fixture, make("setup") + kGather, kReference);
  if (!contract) FAIL(contract.error().message);

  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  const auto weak = fixture.lab->validate_task(*contract, "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->passed);
  REQUIRE(weak);
  CHECK(std::ranges::find(*weak, "solution_inputs", &Reason::code) != weak->end());
}

TEST_CASE("a failing inputs function is reported with its line", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto raised =
      planned(fixture, kGather,
              std::string("def inputs(rows, **_):\n    return rows + None\n") + kReference);
  const auto nameless = planned(
      fixture, kGather,
      std::string("import numpy\ndef inputs(rows, **_):\n    return {'x': numpy.zeros(rows)}\n") +
          kReference);

  REQUIRE_FALSE(raised);
  CHECK(raised.error().message.find("ref.py:2") != std::string::npos);
  REQUIRE_FALSE(nameless);
  CHECK(nameless.error().message == "ref.py: inputs does not say which tensors are outputs");
}
