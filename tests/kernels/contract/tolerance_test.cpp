#include "kernels/contract/tolerance.h"

#include <catch2/catch_test_macros.hpp>

#include "kernels/contract/layout.h"

using namespace ratchet;

namespace {

/// y[rows] from x[rows, cols] and w[cols] in float32.
Contract row_sums(std::int64_t rows, std::int64_t cols) {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"rows", "cols"}, Role::in, "normal"},
                      {"w", DType::f32, {"cols"}, Role::in, "normal"},
                      {"y", DType::f32, {"rows"}, Role::out, "normal"}};
  contract.cases = {{{{"rows", rows}, {"cols", cols}}, 1, false}};
  return contract;
}

double length_of(const Contract& contract) {
  const auto& dims = contract.cases.front().dims;
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);
  return reduction_length(contract, dims, *layout, layout->buffers.back());
}

}  // namespace

TEST_CASE("the length of a reduction follows from the shapes or the declared work", "[tolerance]") {
  auto contract = row_sums(8, 1000);
  CHECK(length_of(contract) == 1000);  // 8000 inputs for 8 outputs

  contract.work = Work{"4*rows*cols", "2*rows*cols*3", DType::f32};
  CHECK(length_of(contract) == 3000);  // 48000 operations / 2 / 8 outputs
}

TEST_CASE("only default tolerances of float32 grow, with the root of a long reduction",
          "[tolerance]") {
  CHECK(reduction_growth(DType::f32, 1 << 18) == 1);
  CHECK(reduction_growth(DType::f32, 1 << 20) == 2);  // four times the length
  CHECK(reduction_growth(DType::f32, 1e12) == 3);     // 3e-4 is below 2^-11
  CHECK(reduction_growth(DType::f64, 1e12) == 1);
  CHECK(reduction_growth(DType::f16, 1e12) == 1);
}

TEST_CASE("the caller's tolerance does not grow, and its matched ratio is kept", "[tolerance]") {
  auto contract = row_sums(1, 1 << 20);
  const auto& dims = contract.cases.front().dims;
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);

  CHECK(comparison_plan(contract, dims, *layout, {}, {}).tolerances[2].atol == 2e-4);
  CHECK(comparison_plan(contract, dims, *layout, {}, {}).tolerances[2].matched_ratio == 1);
  contract.matched_ratio = 0.99;
  const auto given = comparison_plan(contract, dims, *layout, 1e-3, {});
  CHECK(given.tolerances[2].atol == 1e-3);
  CHECK(given.tolerances[2].matched_ratio == 0.99);
}

TEST_CASE("nothing is asked of a rest that there is not", "[tolerance]") {
  Contract contract;
  TaskRequest task;
  task.rest_within = 4;
  const auto refused = plan_tolerances(contract, task);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("rest_within: "));
  CHECK_FALSE(contract.rest_within);

  task.tensors = {{"y", DType::f32, {"n"}, Role::out, "normal"}};
  task.tensors.front().matched_ratio = 0.9;
  CHECK(plan_tolerances(contract, task));
  CHECK(contract.rest_within == 4);
}

TEST_CASE("an output's own tolerances come before the run's", "[tolerance]") {
  auto contract = row_sums(8, 1000);
  contract.judge = JudgeRules{};
  contract.matched_ratio = 0.99;
  contract.tensors[2].atol = 0.25;
  contract.tensors[2].matched_ratio = 0.9;
  const auto& dims = contract.cases.front().dims;
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);

  const auto own = comparison_plan(contract, dims, *layout, 1e-3, 1e-5).tolerances[2];

  CHECK(own.atol == 0.25);
  CHECK(own.rtol == 1e-5);
  CHECK(own.matched_ratio == 0.9);
}

TEST_CASE("a given atol belongs to normal inputs and scales with the answers of others",
          "[tolerance]") {
  auto contract = row_sums(8, 1000);
  contract.judge = JudgeRules{};
  const auto& dims = contract.cases.front().dims;
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);
  TrialFacts facts;
  facts.normal_rms = {32};
  const auto given = [&](double atol) {
    return comparison_plan(contract, dims, *layout, atol, 1e-3, facts).tolerances[2];
  };

  CHECK(given(1e-2).atol == 1e-2);
  CHECK(given(1e-2).scale == wire::AtolScale::absolute);

  facts.distribution = "large";
  CHECK(given(1e-2).atol == 1e-2 / 32);
  CHECK(given(1e-2).scale == wire::AtolScale::rms);
  CHECK(given(100).atol == 1e-3);  // ten times the server's own
  CHECK(given(1e-2).rtol == 1e-3);

  contract.judge.reset();  // an older run
  CHECK(given(1e-2).atol == 1e-2);
  CHECK(given(1e-2).scale == wire::AtolScale::absolute);
}

TEST_CASE("integers are exact unless the task gives them room", "[tolerance]") {
  Contract contract;
  contract.judge = JudgeRules{};
  contract.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                      {"y", DType::i8, {"n"}, Role::out, "normal"}};
  const Dims dims{{"n", 8}};
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);
  const auto exact = [&](std::optional<double> atol) {
    return comparison_plan(contract, dims, *layout, atol, {}).tolerances[1].exact;
  };
  CHECK(exact({}));
  CHECK(exact(1e-2));
  CHECK_FALSE(exact(1));
}

TEST_CASE("a judge on a device has all rules since version 5", "[tolerance]") {
  Contract contract;
  CHECK_FALSE(same_rules_on_devices(contract));
  contract.judge = JudgeRules{.version = 4};
  CHECK_FALSE(same_rules_on_devices(contract));
  contract.judge->version = 5;
  CHECK(same_rules_on_devices(contract));
}

TEST_CASE("a shadow asks more of 16-bit outputs alone, and only without given tolerances",
          "[tolerance]") {
  Contract contract;
  contract.tensors = {{"x", DType::f16, {"n"}, Role::in, "normal"},
                      {"y", DType::f32, {"n"}, Role::out, "normal"}};
  CHECK_FALSE(shadow_tightens(contract, {}, {}));
  contract.tensors[1].dtype = DType::bf16;
  CHECK(shadow_tightens(contract, {}, {}));
  CHECK_FALSE(shadow_tightens(contract, 1e-2, {}));
  CHECK_FALSE(shadow_tightens(contract, {}, 1e-2));
}

TEST_CASE("16-bit outputs are held to honest errors only without given tolerances", "[tolerance]") {
  Contract contract;
  contract.judge = JudgeRules{};
  contract.tensors = {{"x", DType::f16, {"n"}, Role::in, "normal"},
                      {"y", DType::f16, {"n"}, Role::out, "normal"}};
  const Dims dims{{"n", 8}};
  const auto layout = layout_of(contract, dims);
  REQUIRE(layout);
  TrialFacts facts;
  facts.shadow = true;
  facts.elementwise = true;
  const auto own = comparison_plan(contract, dims, *layout, {}, {}, facts).tolerances[1];
  CHECK(own.only_honest);
  CHECK(own.noise == contract.judge->noise);
  const auto given = comparison_plan(contract, dims, *layout, 1e-2, 1e-2, facts).tolerances[1];
  CHECK_FALSE(given.only_honest);
  CHECK(given.noise == 0);
  CHECK(given.honest == contract.judge->honest);
}
