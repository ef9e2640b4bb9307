#include "tests/kernels/lab/python_fixture.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tests/support/places.h"

namespace ratchet::test {

PythonKernelFixture::PythonKernelFixture(const std::string& python) : LabFixture(python) {}

Contract PythonKernelFixture::contract(const std::string& kernel,
                                       const std::string& reference) const {
  const auto task = decode<TaskRequest>(Json::parse(R"({
      "implementation": "host-python", "dims": {"n": 512},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n/2", "2"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n/2", "2"], "role": "out"}]})"));
  REQUIRE(task);
  auto planned = lab->plan(*task, {"kernel.py", kernel, ""}, {"ref.py", reference, ""});
  if (!planned) FAIL(planned.error().message);
  return *std::move(planned);
}

Candidate PythonKernelFixture::build(const std::string& kernel) {
  const auto planned = contract(kernel);
  auto candidate = lab->build(planned, planned.kernel, call);
  if (!candidate) FAIL(candidate.error().message);
  return *std::move(candidate);
}

CorrectnessReport PythonKernelFixture::check(const std::string& kernel,
                                             const std::string& reference) {
  const auto planned = contract(kernel, reference);
  auto report = lab->check(planned, built(planned), "secret", call);
  if (!report) FAIL(report.error().message);
  return *std::move(report);
}

BenchmarkRow row_named(const BenchmarkReport& report, const std::string& name) {
  const auto row = std::ranges::find(report.rows, name, &BenchmarkRow::name);
  if (row == report.rows.end()) FAIL("no row " << name);
  return *row;
}

}  // namespace ratchet::test
