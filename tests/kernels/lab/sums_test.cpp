#include "kernels/judge/sums.h"

#include <catch2/catch_test_macros.hpp>

#include "kernels/contract/layout.h"
#include "kernels/judge/reference.h"

using namespace ratchet;

namespace {

Contract scaled_sum() {
  Contract contract;
  contract.judge = JudgeRules{.version = 5};
  contract.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                      {"at", DType::i32, {"n"}, Role::in, "normal"},
                      {"y", DType::f32, {"1"}, Role::out, "normal"}};
  contract.tensors[2].atol = 1e-9;
  contract.parameters.resize(4);
  for (std::size_t i = 0; i < 3; ++i)
    contract.parameters[i] = {contract.tensors[i].name, ParameterKind::tensor,
                              contract.tensors[i].dtype};
  contract.parameters[3] = {"by", ParameterKind::scalar, DType::f32, false, 0.5};
  return contract;
}

const Dims kEight{{"n", 8}};

}  // namespace

TEST_CASE("outputs are asked about as sums where every floating-point input may change",
          "[judge]") {
  auto contract = scaled_sum();
  const auto layout = layout_of(contract, kEight);
  REQUIRE(layout);
  const auto parts = parts_of_sums(contract, *layout);
  REQUIRE(parts);
  CHECK(parts->inputs == std::vector<std::string>{"x"});
  CHECK(parts->outputs == std::vector<std::string>{"y"});

  contract.tensors[0].init = "given";
  CHECK_FALSE(parts_of_sums(contract, *layout));
  auto integers = *layout;
  integers.buffers[2].dtype = DType::i32;
  CHECK_FALSE(parts_of_sums(scaled_sum(), integers));
  auto inout = *layout;
  inout.buffers[2].role = Role::inout;
  CHECK_FALSE(parts_of_sums(scaled_sum(), inout));
  auto none = *layout;
  none.buffers[0].dtype = DType::i32;
  CHECK_FALSE(parts_of_sums(scaled_sum(), none));
}

TEST_CASE("sums are compared by the server's own tolerances", "[judge]") {
  const auto layout = layout_of(scaled_sum(), kEight);
  REQUIRE(layout);
  CHECK(plan_for_sums(scaled_sum(), kEight, *layout).tolerances[2].atol == 1e-4);
}

TEST_CASE("a call in float64 has every floating-point buffer and number so", "[judge]") {
  const auto contract = scaled_sum();
  const auto layout = layout_of(contract, kEight);
  REQUIRE(layout);
  const auto wide = wide_call_of(contract, kEight, *layout);
  CHECK(wide.layout.buffers[0].dtype == DType::f64);
  CHECK(wide.layout.buffers[1].dtype == DType::i32);
  CHECK(wide.layout.buffers[2].dtype == DType::f64);
  REQUIRE(wide.arguments.size() == 4);
  for (const auto& argument : wide.arguments)
    CHECK(argument.dtype == (argument.name == "at" ? DType::i32 : DType::f64));
  CHECK(wide.arguments[2].offset == wide.layout.buffers[2].offset);
}
