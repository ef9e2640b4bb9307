// Outputs that a kernel adds onto: zero before every call where the contract says so, and named
// where it does not.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Sums of rows.
std::string row_sums(const std::string& name, const std::string& body) {
  return "extern \"C\" void " + name + "(const float* x, float* y, int rows, int cols) {\n" + body +
         "\n}\n";
}

const std::string kAdds = row_sums(
    "solve",
    "for (int r = 0; r < rows; ++r) for (int c = 0; c < cols; ++c) y[r] += x[r * cols + c];");
const std::string kWrites = row_sums(
    "solve",
    "for (int r = 0; r < rows; ++r) {\n"
    "  float sum = 0;\n  for (int c = 0; c < cols; ++c) sum += x[r * cols + c];\n  y[r] = sum;\n}");
const std::string kReference = row_sums("reference",
                                        "for (int r = 0; r < rows; ++r) {\n"
                                        "  double sum = 0;\n  for (int c = 0; c < cols; ++c) sum "
                                        "+= x[r * cols + c];\n  y[r] = sum;\n}");

struct RowSums : LabFixture {
  Result<Contract> plan(const std::string& kernel, const std::string& init,
                        const std::string& role = "out") const {
    const auto task = decode<TaskRequest>(Json::parse(
        R"({"dims": {"rows": 64, "cols": 96}, "tensors": [
            {"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"},
            {"name": "y", "dtype": "float32", "shape": ["rows"], "role": ")" +
        role + R"(", "init": ")" + init + R"("}]})"));
    if (!task) FAIL(task.error().message);
    return lab->plan(*task, {"kernel.cpp", kernel, ""}, {"ref.cpp", kReference, ""});
  }

  CorrectnessReport check(const std::string& kernel, const std::string& init) {
    const auto contract = plan(kernel, init);
    if (!contract) FAIL(contract.error().message);
    auto report = lab->check(*contract, built(*contract), "secret", call);
    if (!report) FAIL(report.error().message);
    return *std::move(report);
  }
};

}  // namespace

TEST_CASE("a kernel that adds onto its output is right where the contract starts it at zero",
          "[lab][zeros]") {
  RowSums task;

  const auto adds = task.check(kAdds, "zeros");
  const auto writes = task.check(kWrites, "zeros");

  CHECK(adds.passed);
  CHECK(writes.passed);  // whoever writes all of it need not know
}

TEST_CASE("a kernel that adds onto its output is told so where the contract does not say it",
          "[lab][zeros]") {
  RowSums task;

  const auto adds = task.check(kAdds, "normal");

  CHECK_FALSE(adds.passed);
  REQUIRE(has_reason(adds, "adds_onto_output"));
  const auto& message = adds.reasons.front().message;
  INFO(message);
  CHECK(message.find("y: ") == 0);
  CHECK(message.find("passes when it starts at zero: declare `init: zeros`") !=
        std::string_view::npos);
  CHECK(task.check(kWrites, "normal").passed);
}

TEST_CASE("a wrong kernel is not told to start its output at zero", "[lab][zeros]") {
  RowSums task;
  const auto twice = row_sums("solve",
                              "for (int r = 0; r < rows; ++r) for (int c = 0; c < cols; ++c)\n"
                              "  y[r] += 2 * x[r * cols + c];");

  for (const auto* init : {"zeros", "normal"}) {
    const auto report = task.check(twice, init);
    CHECK_FALSE(report.passed);
    CHECK_FALSE(has_reason(report, "adds_onto_output"));
  }
}

TEST_CASE("a kernel that is wrong for special rows only is not told to start its output at zero",
          "[lab][zeros]") {
  RowSums task;
  const auto ties = row_sums("solve",
                             "for (int r = 0; r < rows; ++r) {\n"
                             "  y[r] = x[r * cols] == x[r * cols + 1] ? 1 : 0;\n"
                             "  for (int c = 0; c < cols; ++c) y[r] += x[r * cols + c];\n}");

  const auto report = task.check(ties, "normal");

  CHECK(has_reason(report, "mismatch"));
  CHECK_FALSE(has_reason(report, "adds_onto_output"));
}

TEST_CASE("a kernel that leaves an output at its zeros does not pass", "[lab][zeros]") {
  RowSums task;

  const auto report = task.check(row_sums("solve", "(void)x, (void)y, (void)rows;"), "zeros");

  CHECK_FALSE(report.passed);
}

TEST_CASE("outputs are zero again before every timed call", "[lab][zeros][slow]") {
  RowSums task;
  const auto contract = task.plan(kAdds, "zeros");
  if (!contract) FAIL(contract.error().message);
  const auto candidate = task.built(*contract);

  ProfileRequest request;
  request.candidate = &candidate;

  const auto profile = task.lab->profile(*contract, request, "secret", task.call);

  if (!profile) FAIL(profile.error().message);
  for (const auto& reason : profile->reasons) UNSCOPED_INFO(reason.message);
  CHECK(profile->reasons.empty());
  CHECK(profile->timing.samples > 0);
}

TEST_CASE("only outputs start at zero", "[lab][zeros]") {
  RowSums task;

  const auto contract = task.plan(kAdds, "zeros", "in");

  REQUIRE_FALSE(contract);
  CHECK(contract.error().message == "tensors.y.init: zeros is for outputs, and this is an input");
}

TEST_CASE("without tensors, `accumulate` names the outputs that start at zero", "[lab][zeros]") {
  LabFixture fixture;
  TaskRequest request;
  request.dims = {{"n", 500}};
  const auto doubling = [](const std::string& name, const std::string& sign) {
    return "extern \"C\" void " + name + "(const float* x, float* y, int n) {\n" +
           "for (int i = 0; i < n; ++i) y[i] " + sign + " 2 * x[i];\n}\n";
  };
  const Source kernel{"kernel.cpp", doubling("solve", "+="), ""};
  const Source reference{"ref.cpp", doubling("reference", "="), ""};

  request.accumulate = {"y"};
  const auto contract = fixture.lab->plan(request, kernel, reference);
  request.accumulate = {"x"};
  const auto input = fixture.lab->plan(request, kernel, reference);
  request.accumulate = {"z"};
  const auto unknown = fixture.lab->plan(request, kernel, reference);

  if (!contract) FAIL(contract.error().message);
  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  REQUIRE(report);
  CHECK(report->passed);
  REQUIRE_FALSE(input);
  CHECK(input.error().message.find("accumulate: x is an input") == 0);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "accumulate: there is no tensor z");
}
