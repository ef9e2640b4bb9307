// What torch.compile makes for a size depends on the sizes before: the first is traced as it is,
// what differs from it as a variable. Processes that are checked and timed get sizes in other
// orders.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr std::chrono::seconds kTiming(1);
constexpr std::chrono::seconds kDeadline(60);  // a first trace on a machine that never made one

constexpr const char* kTraced = R"(import torch


@torch.compile
def more(x):
    return 2 * x + 1


def run_kernel(x, y, n):
    y.copy_(more(x))
)";

/// For 4,096 elements and the sizes of `more`, which are the only others.
Contract traced(Lab& lab, const std::string& more) {
  const auto task = decode<TaskRequest>(Json::parse(R"({
      "implementation": "host-python", )" + more + R"(,
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})"));
  REQUIRE(task);
  auto planned = lab.plan(*task, {"kernel.py", kTraced, ""},
                          {"ref.py", "def reference(x, **_):\n    return 2 * x + 1\n", ""});
  if (!planned) FAIL(planned.error().message);
  return *std::move(planned);
}

Contract of_two_sizes(Lab& lab) {
  return traced(lab, R"("cases": [{"dims": {"n": 4096}}, {"dims": {"n": 5120}}],
                        "where": ["n % 1024 == 0", "n >= 4096", "n <= 5120"])");
}

void check_each_is_timed(LabFixture& fixture, const Contract& contract,
                         const Candidate& candidate) {
  const auto report = fixture.lab->benchmark(contract, {.candidate = &candidate, .num_trials = 10},
                                             "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->correct);
  REQUIRE(report->rows.size() >= 2);
  for (const auto& row : report->rows) {
    UNSCOPED_INFO(row.name << ": " << row.status);
    CHECK(row.timing);
  }
}

}  // namespace

TEST_CASE("a compiled function that traces a second size as a variable passes", "[lab][python]") {
  LabFixture fixture(python_with_frameworks(), kTiming, kDeadline);
  const auto contract = traced(
      *fixture.lab, R"("dims": {"n": 4096}, "where": ["n % 1024 == 0", "n >= 3072", "n <= 5120"])");

  const auto report = fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  for (const auto& reason : report->reasons) UNSCOPED_INFO(reason.message);
  CHECK(report->passed);
}

TEST_CASE("a compiled function is timed at each of its sizes", "[lab][python]") {
  LabFixture fixture(python_with_frameworks(), kTiming, kDeadline);
  const auto contract = of_two_sizes(*fixture.lab);

  check_each_is_timed(fixture, contract, fixture.built(contract));
}

TEST_CASE("a compiled function whose files are gone is compiled for each of its sizes again",
          "[lab][python]") {
  LabFixture fixture(python_with_frameworks(), kTiming, kDeadline);
  const auto contract = of_two_sizes(*fixture.lab);
  const auto candidate = fixture.built(contract);
  REQUIRE(std::filesystem::remove_all(fixture.folder.path() / "state" / "python") > 1);

  check_each_is_timed(fixture, contract, candidate);
}
