#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include "kernels/process/descendants.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// No worker of this process is left.
bool nobody_left() {
  return descendants_of(::getpid()).empty();
}

}  // namespace

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
