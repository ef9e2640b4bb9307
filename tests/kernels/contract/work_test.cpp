#include "kernels/contract/work.h"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/planner.h"
#include "tests/support/devices.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("work without a type is of the fastest arithmetic that the inputs are made for",
          "[planner]") {
  const auto type_of = [](const std::string& type, std::optional<DType> declared = std::nullopt) {
    const auto text = [&](const std::string& name) {
      return "extern \"C\" void " + name + "(const " + type + "* x, float* y, int n) {}";
    };
    TaskRequest request;
    request.dims = {{"n", 300}};
    request.work = Work{"8*n", "n", declared};
    const auto contract = plan_contract(request, {"kernel.cpp", text("solve"), ""},
                                        {"ref.cpp", text("reference"), ""}, some_processor());
    REQUIRE(contract);
    return contract->work->type;
  };
  CHECK(type_of("float") == DType::f32);
  CHECK(type_of("int8_t") == DType::i8);
  CHECK(type_of("int8_t", DType::f32) == DType::f32);
}

TEST_CASE("the fastest arithmetic is that of products on tensor cores, if an input asks for it",
          "[planner]") {
  const auto of = [](const std::vector<DType>& inputs, DType output) {
    std::vector<TensorSpec> tensors{{.name = "y", .dtype = output, .role = Role::out}};
    for (const auto type : inputs) tensors.push_back({.name = "x", .dtype = type});
    return fastest_arithmetic(tensors);
  };
  CHECK(of({DType::bf16, DType::bf16}, DType::f32) == DType::bf16);
  CHECK(of({DType::f32, DType::f16}, DType::f32) == DType::f16);
  CHECK(of({DType::f8_e4m3, DType::f32, DType::bf16}, DType::bf16) == DType::f8_e4m3);
  CHECK(of({DType::u8}, DType::i32) == DType::i8);
  // Pixels that are weighted; a result's type says nothing of the arithmetic.
  CHECK(of({DType::u8, DType::f32}, DType::f32) == DType::f32);
  CHECK(of({DType::f32}, DType::bf16) == DType::f32);
  CHECK(of({DType::f64}, DType::f64) == DType::f32);
}

TEST_CASE("a contract that names no type meant float32", "[planner]") {
  Contract old;
  old.work = Work{"8", "4", std::nullopt};
  const auto work = work_of(old, {});
  REQUIRE(work);
  REQUIRE(*work);
  CHECK((*work)->type == DType::f32);
}
