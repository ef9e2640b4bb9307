#include "tests/kernels/lab/lab_fixture.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "server/core/files.h"
#include "tests/support/places.h"

namespace ratchet::test {

LabFixture::LabFixture(const std::string& python, std::chrono::milliseconds timing_limit,
                       std::chrono::milliseconds job_deadline) {
  const auto build = build_dir();
  auto opened = Lab::open({.state_dir = folder.path() / "state",
                           .worker_dir = build / "bin",
                           .data_dir = source_dir() / "kernels",
                           .python = python,
                           .version = "test",
                           .job_deadline = job_deadline,
                           .timing_limit = timing_limit,
                           .noise_sessions = 0});
  REQUIRE(opened);
  lab = *std::move(opened);
}

std::string doubling_source(const std::string& body, const std::string& preamble) {
  return preamble + "\nextern \"C\" void solve(const float* x, float* y, int n) {\n" + body +
         "\n}\n";
}

Contract LabFixture::doubling(const std::string& kernel, int n) const {
  TaskRequest task;
  task.dims = {{"n", n}};
  task.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                  {"y", DType::f32, {"n"}, Role::out, "normal"}};
  task.work = Work{"8*n", "n", DType::f32};
  const Source reference{"ref.cpp",
                         "extern \"C\" void reference(const float* x, float* y, int n) {\n"
                         "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
                         ""};
  auto contract = lab->plan(task, {"kernel.cpp", kernel, ""}, reference);
  if (!contract) FAIL(contract.error().message);
  return *std::move(contract);
}

Candidate LabFixture::built(const Contract& contract) {
  auto candidate = lab->build(contract, contract.kernel, call);
  if (!candidate) FAIL(candidate.error().message);
  if (!candidate->build.ok) FAIL(candidate->build.errors.at(0).message);
  return *std::move(candidate);
}

Contract LabFixture::planned(const std::string& request, const std::string& kernel,
                             const std::string& reference) const {
  const auto task = decode<TaskRequest>(Json::parse(request));
  if (!task) FAIL(task.error().message);
  auto contract = lab->plan(*task, {"kernel.cpp", kernel, ""}, {"ref.cpp", reference, ""});
  if (!contract) FAIL(contract.error().message);
  return *std::move(contract);
}

CorrectnessReport LabFixture::checked(const Contract& contract) {
  auto report = lab->check(contract, built(contract), "secret", call);
  if (!report) FAIL(report.error().message);
  return *std::move(report);
}

CorrectnessReport LabFixture::check(const std::string& body, const std::string& preamble) {
  return checked(doubling(doubling_source(body, preamble)));
}

Source shipped_python_reference(const std::string& problem) {
  const auto path = source_dir() / "kernels" / "problems" / problem / "ref.py";
  auto text = read_file(path);
  REQUIRE(text);
  return {"ref.py", *std::move(text), ""};
}

std::string lines_of(const std::vector<Reason>& reasons) {
  std::string text;
  for (const auto& reason : reasons) text += reason.code + ": " + reason.message + "\n";
  return text;
}

bool has_reason(const CorrectnessReport& report, const std::string& code) {
  return std::ranges::any_of(report.reasons,
                             [&](const Reason& reason) { return reason.code == code; });
}

}  // namespace ratchet::test
