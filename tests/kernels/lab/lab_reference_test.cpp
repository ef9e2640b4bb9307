#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "tests/kernels/lab/lab_fixture.h"
#include "tests/support/sanitized.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A doubling contract with a Python reference.
struct PythonFixture : LabFixture {
  Contract contract(const std::string& reference, DType type = DType::f32) {
    TaskRequest task;
    task.dims = {{"n", 512}};
    task.tensors = {{"x", type, {"n/2", "2"}, Role::in, "normal"},
                    {"y", type, {"n/2", "2"}, Role::out, "normal"}};
    task.work = Work{"8*n", "n", type};
    auto planned = lab->plan(task, {"kernel.cpp", doubling_source(kHonestBody), ""},
                             {"ref.py", reference, ""});
    if (!planned) FAIL(planned.error().message);
    return *std::move(planned);
  }

  Result<TimedReport> check(const std::string& reference) {
    const auto planned = contract(reference);
    return lab->check(planned, built(planned), "secret", call);
  }
};

bool names(const std::vector<Reason>& reasons, const std::string& code) {
  return std::ranges::any_of(reasons, [&](const Reason& reason) { return reason.code == code; });
}

}  // namespace

TEST_CASE("a numpy reference may write its outputs in place", "[lab]") {
  PythonFixture fixture;

  const auto report = fixture.check("def reference(**kw):\n    kw['y'][:] = 2 * kw['x']\n");

  REQUIRE(report);
  CHECK(report->passed);
}

TEST_CASE("a numpy reference may return its output, list or dict, in the declared shape", "[lab]") {
  PythonFixture fixture;

  for (const auto* result : {"2 * x", "[2 * x]", "{'y': 2 * x}"}) {
    const auto report =
        fixture.check(std::string("def reference(x, n, **kw):\n") +
                      "    assert x.shape == (n // 2, 2)\n    return " + result + "\n");
    if (!report) FAIL(report.error().message);
    CHECK(report->passed);
  }
}

TEST_CASE("a reference with names of its own gets the kernel's arguments in their order", "[lab]") {
  PythonFixture fixture;

  for (const auto* reference :
       {"def reference(a, b, count):\n    b[:] = 2 * a\n    assert count == b.size\n",
        "def reference(a, n):\n    assert n == a.size\n    return 2 * a\n",
        "def reference(a):\n    return 2 * a\n"}) {
    const auto report = fixture.check(reference);
    if (!report) FAIL(report.error().message);
    CHECK(report->passed);
  }
}

TEST_CASE("a reference whose parameters could mean several things is told the names", "[lab]") {
  PythonFixture fixture;

  for (const auto* parameters : {"a, b", "n, a", "a, b, c, d"}) {
    const auto report =
        fixture.check(std::string("def reference(") + parameters + "):\n    return 2 * a\n");
    REQUIRE_FALSE(report);
    CHECK(report.error().message.find("it is called by name, with x, y, n") != std::string::npos);
  }
}

TEST_CASE("a reference that disagrees makes the kernel fail, not pass", "[lab]") {
  PythonFixture fixture;

  const auto report = fixture.check("def reference(x, y):\n    y[:] = 3 * x\n");

  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("the tolerances of the reference's module apply if the caller gives none", "[lab]") {
  PythonFixture fixture;

  const auto report =
      fixture.check("atol = 100.0\nrtol = 0.25\ndef reference(x, y):\n    y[:] = 2.1 * x\n");

  REQUIRE(report);
  CHECK(report->passed);
  CHECK(report->atol == 100);
  CHECK(report->rtol == 0.25);
}

TEST_CASE("an exception in the reference names its line", "[lab]") {
  PythonFixture fixture;

  const auto report =
      fixture.check("def reference(x, y):\n    z = 1\n    raise ValueError('odd')\n");

  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::invalid_argument);
  CHECK(report.error().message.find("ref.py:3") != std::string::npos);
  CHECK(report.error().message.find("ValueError: odd") != std::string::npos);
}

TEST_CASE("a reference that takes all memory is refused with its limit, one that takes much is not",
          "[lab]") {
  if (kSanitized) SKIP("a sanitized worker has no limit");
  PythonFixture fixture;
  const std::string head =
      "import numpy\n\ndef reference(x, n, **kw):\n    kept = [numpy.empty(1 << 27) for _ in "
      "range(";

  const auto all = fixture.check(head + "4096)]\n    return 2 * x\n");
  const auto much = fixture.check(head + "2)]\n    return 2 * x\n");

  REQUIRE_FALSE(all);
  CHECK(all.error().message.find("out_of_memory: MemoryError") != std::string::npos);
  CHECK(all.error().message.find("bytes of memory are allowed") != std::string::npos);
  REQUIRE(much);
  CHECK(much->passed);
}

TEST_CASE("a reference that writes nothing is refused", "[lab]") {
  PythonFixture fixture;
  const auto contract = fixture.contract("def reference(**kw):\n    pass\n");

  const auto weak = fixture.lab->validate_task(contract, "secret", fixture.call);

  REQUIRE_FALSE(weak);
  CHECK(weak.error().message.find("writes nothing to the output y") != std::string::npos);
}

TEST_CASE("a task on which zeros pass is reported as weak, a sound one is not", "[lab]") {
  PythonFixture fixture;
  const auto sound = fixture.contract("def reference(x, y):\n    y[:] = 2 * x\n");
  const auto zero = fixture.contract("def reference(x, y):\n    y[:] = 0 * abs(x)\n");
  const auto same = fixture.contract("def reference(x, y):\n    y[:] = x\n");
  auto undeclared = sound;
  undeclared.work.reset();

  const auto none = fixture.lab->validate_task(sound, "secret", fixture.call);
  const auto zeros = fixture.lab->validate_task(zero, "secret", fixture.call);
  const auto copies = fixture.lab->validate_task(same, "secret", fixture.call);

  REQUIRE(none);
  CHECK(none->empty());
  REQUIRE(zeros);
  CHECK(names(*zeros, "weak_task_zero"));
  CHECK(names(*zeros, "input_without_effect"));
  CHECK(names(*fixture.lab->validate_task(undeclared, "secret", fixture.call), "work_undeclared"));
  REQUIRE(copies);
  REQUIRE(copies->size() == 1);
  CHECK(copies->front().code == "weak_task_identity");
}

TEST_CASE("the shipped problems' first kernels pass against both references", "[lab][slow]") {
  LabFixture fixture;
  for (const auto& name : fixture.lab->problem_names()) {
    auto problem = fixture.lab->problem(name, "host-cpp", nullptr);
    if (!problem) FAIL(problem.error().message);
    for (const bool python : {false, true}) {
      Source reference = problem->reference;
      if (python) reference = shipped_python_reference(name);
      auto contract = fixture.lab->plan(problem->task, *problem->kernel, reference);
      if (!contract) FAIL(contract.error().message);
      for (auto& one : contract->cases)  // the sizes are a user's; a test needs the rules only
        for (auto& [dim, size] : one.dims) size = std::min<std::int64_t>(size, 256);
      const auto report =
          fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
      if (!report) FAIL(name << ": " << report.error().message);
      CHECK(report->passed);
    }
  }
}
