#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <iterator>

#include "kernels/contract/hidden_cases.h"

using namespace ratchet;

TEST_CASE("whether any size is taken is decided at every tiny size that a check may draw",
          "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"n"}, Role::out, "normal"}};
  contract.cases = {{{{"n", 4096}}, 1, false}};
  CHECK(deciding_edge_cases(contract, "s").empty());
  contract.any_size = true;
  for (const auto* seed : {"a", "b", "c"}) {
    const auto edges = deciding_edge_cases(contract, seed);
    for (const std::int64_t tiny : {1, 2, 3, 4})
      CHECK(std::ranges::count(edges, Dims{{"n", tiny}}, &Case::dims) == 1);
    CHECK(edges.size() > 5);
  }
  contract.cases = {{{{"n", 2}}, 1, false}};
  CHECK(deciding_edge_cases(contract, "a").size() == 2);
}

TEST_CASE("edge sizes are tiny, or beside a width of vectors, warps and blocks", "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"rows", "cols"}, Role::out, "normal"}};
  contract.cases = {{{{"rows", 4096}, {"cols", 100}}, 1, false}};
  CHECK(edge_cases(contract, "s").empty());
  contract.any_size = true;

  const auto edges = edge_cases(contract, "s");

  REQUIRE(edges.size() == 2);
  for (const auto& one : edges) {
    CHECK(one.hidden);
    CHECK(one.dims.at("rows") >= 1);
    CHECK(one.dims.at("cols") <= 100);
  }
  CHECK(edges[0].dims.at("rows") <= 4);
  CHECK(edges[0].dims.at("cols") <= 4);
}

TEST_CASE("an odd size frees its own dim, and no other", "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"channels", "width"}, Role::out, "normal"}};
  contract.cases = {{{{"channels", 640}, {"width", 211}}, 1, false},
                    {{{"channels", 1280}, {"width", 64}}, 1, false}};
  const auto drawn = [&] {
    auto cases = hidden_cases(contract, "s", 8);
    std::ranges::move(edge_cases(contract, "s"), std::back_inserter(cases));
    return cases;
  };
  const auto odd = [](const char* name) {
    return [name](const Case& one) { return one.dims.at(name) % 2 == 1; };
  };

  CHECK(std::ranges::any_of(drawn(), odd("channels")));  // as older runs draw
  contract.judge = JudgeRules{.version = 7};
  for (const auto& one : drawn()) CHECK(one.dims.at("channels") % 128 == 0);
  CHECK(std::ranges::any_of(drawn(), odd("width")));
  // What has the size of a dim that is never odd stays its equal.
  contract.cases[1].dims["channels"] = 64;
  contract.cases[0].dims["channels"] = 64;
  for (const auto& one : drawn())
    if (one.dims.at("width") == 64) CHECK(one.dims.at("channels") == 64);
  // The attack: a version without a tail on a dim that may have any size.
  contract.any_size = true;
  CHECK(std::ranges::any_of(drawn(), odd("channels")));
}
