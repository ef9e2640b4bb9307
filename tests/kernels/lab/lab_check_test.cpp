#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "kernels/judge/idle_judge.h"
#include "tests/kernels/lab/check_row.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("an honest kernel passes on every case, seed and distribution", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(kHonestBody);

  CHECK(report.passed);
  CHECK(report.reasons.empty());
  CHECK(report.repeatable);
  // One given case and two hidden ones: four distributions with three seeds, two with one.
  CHECK(report.cases.size() == 42);
  CHECK(report.cases.front().max_abs == 0);
  CHECK(nobody_left());
}

TEST_CASE("hidden sizes are not shown while the kernel is right", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(kHonestBody);

  for (const auto& one : report.cases) CHECK(one.dims.empty() == one.hidden);
}

TEST_CASE("a kernel that only handles the given size fails on a hidden one", "[lab]") {
  LabFixture fixture;

  const auto report =
      fixture.check("for (int i = 0; i < 1000 && i < n; ++i) y[i] = n == 1000 ? 2 * x[i] : 0;");

  CHECK_FALSE(report.passed);
  CHECK(has_reason(report, "mismatch"));
  CHECK(report.cases.front().passed);
  CHECK(report.cases.back().hidden);
  CHECK_FALSE(report.cases.back().dims.empty());
}

TEST_CASE("a wrong element is found and named", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check("for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; y[7] += 1;");

  CHECK_FALSE(report.passed);
  CHECK(has_reason(report, "mismatch"));
  const auto& output = report.cases.front().outputs.front();
  CHECK(output.mismatches == 1);
  CHECK(output.first_bad == 7);
  CHECK(output.max_abs > 0.99);
}

TEST_CASE("a kernel that does nothing leaves poison and is detected", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check("(void)x; (void)y; (void)n;");

  CHECK_FALSE(report.passed);
  CHECK(has_reason(report, "output_not_written"));
}

TEST_CASE("NaN in an output is a separate reason", "[lab]") {
  LabFixture fixture;

  const auto report =
      fixture.check("for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; y[3] = __builtin_nanf(\"\");");

  CHECK(has_reason(report, "nan_in_output"));
  CHECK_FALSE(report.passed);
}

TEST_CASE("a write next to a buffer is detected by its guard", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(std::string(kHonestBody) + " y[n] = 1;");

  CHECK(has_reason(report, "wrote_out_of_bounds"));
  CHECK(report.reasons.front().message.find("y") != std::string::npos);
}

TEST_CASE("a kernel that changes its input is detected although its output is right", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(std::string(kHonestBody) + " const_cast<float*>(x)[0] = 0;");

  CHECK(report.cases.front().outputs.front().mismatches == 0);
  CHECK(has_reason(report, "modified_input"));
  CHECK_FALSE(report.passed);
}

TEST_CASE("an answer remembered from the first call does not pass for the next", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(
      "if (!have) { for (int i = 0; i < n; ++i) kept[i] = 2 * x[i]; have = true; }\n"
      "for (int i = 0; i < n; ++i) y[i] = kept[i];",
      "static float kept[4096]; static bool have;");

  CHECK(report.cases.front().passed);
  CHECK_FALSE(report.passed);
}

TEST_CASE("a kernel whose calls differ in some bits is reported as not repeatable", "[lab]") {
  LabFixture fixture;

  const auto report = fixture.check(
      "calls += 1; for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
      "if (calls % 2) y[0] = __builtin_nextafterf(y[0], 1e9f);",
      "static int calls;");

  CHECK(report.passed);
  CHECK_FALSE(report.repeatable);
  CHECK(report.notes.back().code == "not_repeatable");
}

TEST_CASE("a kernel that takes any size is told from one that lacks a tail", "[lab]") {
  LabFixture fixture;
  const auto general = fixture.doubling(doubling_source(kHonestBody), 1024);
  const auto blocks = fixture.doubling(
      doubling_source("for (int b = 0; b < n / 16; ++b)\n"
                      "for (int i = 16 * b; i < 16 * b + 16; ++i) y[i] = 2 * x[i];"),
      1024);

  const auto first = fixture.lab->refused_size(general, fixture.built(general), "s", fixture.call);
  const auto second = fixture.lab->refused_size(blocks, fixture.built(blocks), "s", fixture.call);

  REQUIRE(first);
  CHECK_FALSE(*first);
  REQUIRE(second);
  CHECK(second->value_or(Reason{}).message.starts_with("y: "));
}

TEST_CASE("a kernel without a tail fails where any size must work, and passes where not", "[lab]") {
  LabFixture fixture;
  auto contract = fixture.doubling(
      doubling_source("for (int b = 0; b < n / 16; ++b)\n"
                      "for (int i = 16 * b; i < 16 * b + 16; ++i) y[i] = 2 * x[i];"),
      1024);
  const auto candidate = fixture.built(contract);

  const auto aligned = fixture.lab->check(contract, candidate, "s", fixture.call);
  contract.any_size = true;
  const auto any = fixture.lab->check(contract, candidate, "s", fixture.call);

  REQUIRE(aligned);
  CHECK(aligned->passed);
  REQUIRE(any);
  CHECK_FALSE(any->passed);
}

TEST_CASE("from the second check in a row on, judge and reference are kept, and no kernel",
          "[lab]") {
  Row row;

  CHECK(row.of(kHonestBody).passed);
  CHECK(nobody_left());
  CHECK(row.of("for (int i = n; i-- > 0;) y[i] = x[i] + x[i];").passed);
  const auto kept = living();
  CHECK_FALSE(kept.empty());
  CHECK(row.of("for (int i = 0; i < n; ++i) y[i] = 4 * x[i] / 2;").passed);
  CHECK(living() == kept);
}

TEST_CASE("judge and reference that admitted a task check its kernels", "[lab]") {
  Row row;

  REQUIRE(row.lab->validate_task(row.contract, "secret", row.call));
  const auto admitted = living();
  CHECK(row.of(kHonestBody).passed);
  const auto kept = living();
  CHECK_FALSE(kept.empty());
  CHECK(kept.size() + 1 == admitted.size());  // without the kernel's
  CHECK(std::ranges::includes(admitted, kept));
  CHECK(has_reason(row.of("for (int i = 0; i < n; ++i) y[i] = x[i];"), "mismatch"));
  CHECK(living() == kept);
}

TEST_CASE("judge and reference start while a new run's kernel is built", "[lab]") {
  Row row;

  REQUIRE(row.lab->prepare(row.contract, row.call));
  const auto kept = living();
  CHECK_FALSE(kept.empty());
  REQUIRE(row.lab->validate_task(row.contract, "secret", row.call));
  CHECK(std::ranges::includes(living(), kept));  // beside the reference's process for float64
}

TEST_CASE("a kernel that does not build ends what was started for it", "[lab]") {
  Row row;
  row.contract.kernel.text = "void nothing(";

  const auto prepared = row.lab->prepare(row.contract, row.call);

  REQUIRE(prepared);
  CHECK_FALSE(prepared->kernel.build.ok);
  const auto begin = std::chrono::steady_clock::now();
  while (!nobody_left() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(nobody_left());
}

TEST_CASE("what is kept outlives the thread of the call that started it", "[lab]") {
  Row row;
  std::set<pid_t> admitted;
  std::thread([&] {
    if (row.lab->validate_task(row.contract, "secret", row.call)) admitted = living();
  }).join();

  std::thread([&] { CHECK(row.of(kHonestBody).passed); }).join();

  const auto kept = living();
  CHECK_FALSE(kept.empty());
  CHECK(kept.size() + 1 == admitted.size());  // without the kernel's
  CHECK(std::ranges::includes(admitted, kept));
}

TEST_CASE("a task that differs in its kernel alone is admitted by the same processes", "[lab]") {
  Row row;
  REQUIRE(row.lab->validate_task(row.contract, "secret", row.call));
  const auto kept = living();

  auto other = row.contract;
  other.kernel.text = doubling_source("for (int i = n; i-- > 0;) y[i] = x[i] + x[i];");
  REQUIRE(row.lab->validate_task(other, "another secret", row.call));
  CHECK(living() == kept);

  other.reference.text += "// another";
  REQUIRE(row.lab->validate_task(other, "secret", row.call));
  CHECK(living() != kept);
}

TEST_CASE("building a Python kernel leaves what is kept as it is", "[lab]") {
  PythonKernelFixture fixture;
  const auto contract = fixture.contract("def run_kernel(x, y):\n    y[:] = 2 * x\n");
  REQUIRE(fixture.lab->validate_task(contract, "secret", fixture.call));
  const auto kept = living();

  const Source source{"kernel.py", "def run_kernel(x, y):\n    y[:] = x + x\n", ""};
  const auto candidate = fixture.lab->build(contract, source, fixture.call);
  REQUIRE(candidate);
  CHECK(living() == kept);
  const auto report = fixture.lab->check(contract, *candidate, "secret", fixture.call);
  REQUIRE(report);
  CHECK(report->passed);
  CHECK(living() == kept);
}

TEST_CASE("judge and reference depend on a kernel that makes the inputs, and on no other",
          "[lab]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"n"}, Role::in, "given"}};
  contract.reference = {"ref.py", "def reference(x, y):\n    y[:] = 2 * x\n", ""};
  contract.kernel = {"kernel.py", "def setup(n, seed):\n    return {}\n", ""};
  auto other = contract;
  other.kernel.text += "# another\n";
  CHECK(judge_terms(contract) != judge_terms(other));

  other.reference.text = contract.reference.text += "def inputs(n, seed):\n    return {}\n";
  CHECK(judge_terms(contract) == judge_terms(other));
  // create_run decides these when the judge runs already.
  other.any_size = true;
  other.given_sizes = true;
  CHECK(judge_terms(contract) == judge_terms(other));
  other.atol = 1e-3;
  CHECK(judge_terms(contract) != judge_terms(other));
}

TEST_CASE("a compiled reference that was asked about edges of types is not kept", "[lab]") {
  Row row;
  row.contract.judge = JudgeRules{.version = 4};
  for (int i = 0; i < 3; ++i) {
    CHECK(row.of(kHonestBody).passed);
    CHECK(nobody_left());
  }
}

TEST_CASE("kept processes judge each kernel by itself", "[lab]") {
  Row row;
  const char* const wrong = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + (i == n - 1);";

  for (int i = 0; i < 3; ++i) {
    CHECK(row.of(kHonestBody).passed);
    CHECK(has_reason(row.of(wrong), "mismatch"));
    CHECK(has_reason(row.of("(void)x; (void)y; (void)n;"), "output_not_written"));
  }
}

TEST_CASE("no check goes on in the process of a kernel that was checked before", "[lab]") {
  Row row;
  // A check calls it some 70 times.
  const auto wrong_after = [](const char* calls) {
    return std::string(
               "static int calls = 0; ++calls; for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + "
               "(calls > ") +
           calls + ");";
  };

  for (int i = 0; i < 4; ++i) CHECK(row.of(wrong_after("150")).passed);
  CHECK_FALSE(row.of(wrong_after("30")).passed);
}

TEST_CASE("what is kept ends before another job has the device", "[lab]") {
  Row row;
  for (int i = 0; i < 2; ++i) CHECK(row.of(kHonestBody).passed);
  const auto kept = living();
  REQUIRE_FALSE(kept.empty());

  SECTION("a check of another contract") {
    CHECK(row.check(kHonestBody, "// of another run").passed);
  }
  SECTION("a race") {
    const auto candidate = row.built(row.contract);
    const RacePlan plan{row.contract.cases.front().dims, 4};
    const std::vector<Entrant> entrants{{"one", &candidate}, {"other", &candidate}};
    CHECK(row.lab->race(row.contract, entrants, plan, "secret", row.call));
  }

  CHECK(nobody_left());
}

TEST_CASE("what is kept ends by itself", "[lab][slow]") {
  Row row;
  for (int i = 0; i < 2; ++i) CHECK(row.of(kHonestBody).passed);
  REQUIRE_FALSE(nobody_left());

  const auto begin = std::chrono::steady_clock::now();
  while (!nobody_left() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));

  CHECK(nobody_left());
}

TEST_CASE("a kernel's fault ends all processes of its check", "[lab]") {
  Row row;
  for (int i = 0; i < 2; ++i) CHECK(row.of(kHonestBody).passed);

  CHECK(row.of("*(volatile float*)8 = x[0]; (void)y; (void)n;").fault);

  CHECK(nobody_left());
  CHECK(row.of(kHonestBody).passed);
}

TEST_CASE("kept processes that have died are replaced", "[lab]") {
  Row row;
  for (int i = 0; i < 2; ++i) CHECK(row.of(kHonestBody).passed);
  const auto kept = living();

  for (const pid_t one : kept) ::kill(one, SIGKILL);

  CHECK(row.of(kHonestBody).passed);
  CHECK(has_reason(row.of("for (int i = 0; i < n; ++i) y[i] = x[i];"), "mismatch"));
}
