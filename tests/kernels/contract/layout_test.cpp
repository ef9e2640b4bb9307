#include "kernels/contract/layout.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "kernels/contract/hidden_cases.h"
#include "kernels/contract/input_init.h"
#include "kernels/contract/tolerance.h"

using namespace ratchet;

namespace {
Contract contract() {
  Contract made;
  made.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                     {"n", ParameterKind::dim, DType::i32, false, {}},
                     {"y", ParameterKind::tensor, DType::f16, false, {}},
                     {"alpha", ParameterKind::scalar, DType::f32, false, 0.25},
                     {"causal", ParameterKind::scalar, DType::boolean, false, 1.0}};
  made.tensors = {{"x", DType::f32, {"n", "3"}, Role::in, "uniform(-1, n/2)"},
                  {"y", DType::f16, {"ceil_div(n,2)"}, Role::out, "normal"}};
  return made;
}
}  // namespace

TEST_CASE("buffers are aligned and guarded on both sides", "[layout]") {
  const auto layout = layout_of(contract(), {{"n", 5}});

  REQUIRE(layout);
  REQUIRE(layout->buffers.size() == 2);
  CHECK(layout->buffers[0].offset == 4096);  // one guard
  CHECK(layout->buffers[0].elements == 15);  // 60 bytes
  CHECK(layout->buffers[1].offset == 8704);  // 4096 + 60 + 4096 = 8252, next multiple of 512
  CHECK(layout->buffers[1].elements == 3);   // 6 bytes
  CHECK(layout->bytes == 13312);             // 8704 + 6 + 4096 = 12806, next multiple of 512
  CHECK(layout->buffers[0].init == "uniform(-1,2.5)");
  CHECK(output_bytes(*layout) == 6);
}

TEST_CASE("arguments are in the order of the signature", "[layout]") {
  const auto made = contract();
  const Dims dims{{"n", 5}};
  const auto arguments = arguments_of(made, dims, *layout_of(made, dims));

  REQUIRE(arguments.size() == 5);
  CHECK(arguments[0].offset == 4096);
  CHECK(arguments[1].integer == 5);
  CHECK(arguments[2].offset == 8704);
  CHECK(arguments[3].real == 0.25);
  CHECK(arguments[4].integer == 1);
}

TEST_CASE("empty and enormous tensors are refused by name", "[layout]") {
  auto made = contract();
  made.tensors[1].shape = {"n - 5"};
  CHECK(layout_of(made, {{"n", 5}})
            .error()
            .message.find("tensors.y.shape: the extent \"n - 5\" is 0") == 0);
  made.tensors[1].shape = {"n", "n", "n"};
  CHECK(layout_of(made, {{"n", 3'000'000'000}}).error().code == ErrorCode::too_large);
}

TEST_CASE("init forms are parsed and evaluated", "[layout]") {
  const Dims dims{{"n", 12}, {"k", 4}};
  const auto form = [&](std::string_view text, DType type) {
    const auto init = parse_init(text, type, dims, index_limit(dims));
    return init ? canonical(*init) : "error: " + init.error().message;
  };

  CHECK(form(" normal ", DType::f32) == "normal");
  CHECK(form("indices(max(n, k) * 2)", DType::i32) == "indices(24)");
  CHECK(form("offsets", DType::i64) == "offsets(4)");
  CHECK(form("permutation", DType::u32) == "permutation");
  CHECK(form("uniform(2,1)", DType::f32)
            .find("the lower bound 2 is not smaller than the upper bound 1") != std::string::npos);
  CHECK(form("indices(k-4)", DType::i32).find("at least 1") != std::string::npos);
  CHECK(form("permutation", DType::f32).find("integer tensor") != std::string::npos);
  CHECK(form("zeros", DType::f32) == "zeros");
  CHECK(form("ones", DType::f32).find("unknown form") != std::string::npos);
  CHECK(form("uniform(1", DType::f32).find("missing") != std::string::npos);
}

TEST_CASE("tolerances follow the dtype unless the caller gives them", "[layout]") {
  CHECK(default_tolerance(DType::f32).atol == 1e-4);
  // Below 2^-11, what one rounding to half precision may cost.
  CHECK(default_tolerance(DType::f32).rtol == 1e-4);
  CHECK(default_tolerance(DType::f32).scale == wire::AtolScale::rms);
  CHECK(default_tolerance(DType::f64).rtol < 1e-8);
  CHECK(tolerance_for(DType::i32, 0.5, 0.5).exact);
  const auto given = tolerance_for(DType::f16, 0.5, {});
  CHECK(given.atol == 0.5);
  CHECK(given.scale == wire::AtolScale::absolute);
  CHECK(given.rtol == 1e-2);
}

TEST_CASE("drawn sizes keep the relations of a task", "[where]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"m", "n"}, Role::out, "normal"}};
  contract.parameters = {{"groups", ParameterKind::scalar, DType::i32, false, 4}};
  contract.cases = {
      {{{"m", 300}, {"n", 500}, {"nnz", 9000}, {"last", 299}, {"heads", 28}}, 1, false}};
  contract.any_size = true;
  const std::vector<std::string> relations{"nnz <= m*n", "last == m - 1", "heads % groups == 0"};
  const auto drawn = [&] {
    auto cases = hidden_cases(contract, "secret", 6);
    for (auto& one : edge_cases(contract, "secret")) cases.push_back(std::move(one));
    return cases;
  };
  const auto kept = [](const Case& one) {
    const auto& dims = one.dims;
    return dims.at("nnz") <= dims.at("m") * dims.at("n") && dims.at("last") == dims.at("m") - 1 &&
           dims.at("heads") % 4 == 0;
  };

  CHECK_FALSE(std::ranges::all_of(drawn(), kept));  // which is why they are needed
  contract.where = relations;
  const auto cases = drawn();
  CHECK(hidden_cases(contract, "secret", 6).size() == 6);
  CHECK(cases.size() >= 7);
  CHECK(std::ranges::all_of(cases, kept));
}
