#include "kernels/contract/problems.h"

#include <catch2/catch_test_macros.hpp>

#include "kernels/build/builder.h"
#include "kernels/contract/planner.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;

namespace {

const std::filesystem::path kData = test::source_dir() / "kernels";

DeviceInfo device_for(Implementation implementation) {
  DeviceInfo device;
  device.kind = device_kind_of(implementation);
  device.arch = device.kind == DeviceKind::cuda ? "sm_90" : "x86-64";
  return device;
}

}  // namespace

TEST_CASE("every shipped problem becomes a contract on each of its devices", "[problems]") {
  REQUIRE(problem_names(kData) == std::vector<std::string>{"matmul", "softmax", "vector_add"});
  for (const auto& name : problem_names(kData)) {
    for (const auto implementation : {Implementation::host_cpp, Implementation::cuda_cpp}) {
      const auto problem = load_problem(kData, name, implementation);
      REQUIRE(problem);
      const auto contract = plan_contract(problem->task, *problem->kernel, problem->reference,
                                          device_for(implementation));
      INFO(name << ": " << (contract ? "" : contract.error().message));
      REQUIRE(contract);
      CHECK(contract->kernel_name == name);
      CHECK(contract->work);
      CHECK(contract_warnings(*contract).empty());
    }
  }
}

TEST_CASE("a problem has its device's sizes", "[problems]") {
  CHECK(load_problem(kData, "softmax", Implementation::host_cpp)->task.dims.at("rows") == 512);
  CHECK(load_problem(kData, "softmax", Implementation::cuda_cpp)->task.dims.at("rows") == 4096);
}

TEST_CASE("every shipped version builds, without warnings, under v0's contract",
          "[problems][slow]") {
  const test::TempFolder folder;
  const auto toolchain = find_toolchain("python3");
  const auto builder =
      *Builder::open({folder / "cache", [&] { return toolchain; }, std::chrono::seconds(120)});
  for (const auto implementation : {Implementation::host_cpp, Implementation::cuda_cpp}) {
    if (implementation == Implementation::cuda_cpp && !toolchain.nvcc) SKIP("nvcc was not found");
    const auto problem = load_problem(kData, "softmax", implementation);
    const auto contract = plan_contract(problem->task, *problem->kernel, problem->reference,
                                        device_for(implementation));
    REQUIRE(contract);
    CHECK(builder.build(reference_build(*contract), CallContext())->ok);
    for (const auto* variant : {"naive", "better", "best"}) {
      const auto source = load_problem_kernel(kData, "softmax", implementation, variant);
      REQUIRE(source);
      const auto record = builder.build(kernel_build(*contract, *source), CallContext());
      INFO(variant);
      REQUIRE(record);
      CHECK(record->ok);
      CHECK(record->warnings.empty());
    }
  }
}

TEST_CASE("unknown problems, variants and implementations are reported with the existing ones",
          "[problems]") {
  const auto unknown = load_problem(kData, "../softmax", Implementation::host_cpp);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().hint.find("matmul, softmax, vector_add") != std::string::npos);
  CHECK_FALSE(load_problem(kData, "softmax", Implementation::cute_dsl));
  CHECK_FALSE(load_problem_kernel(kData, "softmax", Implementation::host_cpp, "v9"));
}
