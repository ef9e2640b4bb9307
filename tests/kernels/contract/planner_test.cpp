#include "kernels/contract/planner.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <ranges>
#include <string>

#include "kernels/contract/hidden_cases.h"
#include "kernels/contract/layout.h"
#include "tests/support/devices.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

const Source kKernel{
    "Soft Max.cpp",
    "extern \"C\" void solve(const float* x, float* y, int rows, int cols, float alpha) {}", ""};
const Source kReference{
    "ref.cpp",
    "extern \"C\" void reference(const float* x, float* y, int rows, int cols, float alpha) {}",
    ""};

TaskRequest task() {
  TaskRequest request;
  request.dims = {{"rows", 300}, {"cols", 200}};
  request.scalars = {{"alpha", 0.5}};
  return request;
}

Error error_of(const TaskRequest& request) {
  const auto contract = plan_contract(request, kKernel, kReference, some_processor());
  return contract ? Error{ErrorCode::internal, "no error", ""} : contract.error();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a plain task becomes a contract in the compatible way", "[planner]") {
  const auto contract = plan_contract(task(), kKernel, kReference, some_processor());

  REQUIRE(contract);
  CHECK(contract->kernel_name == "soft_max");
  CHECK(contract->implementation == Implementation::host_cpp);
  CHECK(contract->arch == "native");
  REQUIRE(contract->tensors.size() == 2);
  CHECK(contract->tensors[0].role == Role::in);
  CHECK(contract->tensors[1].role == Role::out);
  CHECK(contract->tensors[1].shape == std::vector<std::string>{"rows*cols"});
  CHECK(contract->parameters[4].kind == ParameterKind::scalar);
  CHECK(contract->parameters[4].value == 0.5);
  REQUIRE(contract->cases.size() == 1);
  CHECK(contract->cases[0].dims.at("rows") == 300);
}

TEST_CASE("buffers are sized by ptr_size, one integer, or a million if nothing is given",
          "[planner]") {
  const auto extent = [](std::string parameters, TaskRequest request) {
    const Source kernel{"k.cpp", "extern \"C\" void solve(float* y" + parameters + ") {}", ""};
    const Source reference{"r.cpp", "extern \"C\" void reference(float* y" + parameters + ") {}",
                           ""};
    const auto contract = plan_contract(request, kernel, reference, some_processor());
    return contract ? contract->tensors[0].shape[0] : contract.error().message;
  };
  TaskRequest sized;
  sized.ptr_size = 77;
  TaskRequest one;
  one.dims = {{"n", 5}};

  CHECK(extent("", {}) == "1048576");
  CHECK(extent("", sized) == "77");
  CHECK(extent(", int n", one) == "n");
}

TEST_CASE("missing dims are all named", "[planner]") {
  auto request = task();
  request.dims.clear();

  CHECK(has(error_of(request).message, "no size was given for rows, cols"));
}

TEST_CASE("sizes that are not positive or do not fit their parameter are refused", "[planner]") {
  auto request = task();
  request.dims["rows"] = 0;
  CHECK(has(error_of(request).message, "must be at least 1, got 0"));
  request.dims["rows"] = std::int64_t{1} << 31;  // one more than int holds
  CHECK(has(error_of(request).message, "too large for the type int32"));
  request.dims = {{"rows", 2'000'000'000}, {"cols", 2'000'000'000}};
  CHECK(error_of(request).code == ErrorCode::too_large);
}

TEST_CASE("a size that nothing uses is refused; one that a shape or the reference reads is not",
          "[planner]") {
  auto request = task();
  request.dims["depth"] = 8;
  CHECK(has(error_of(request).message, "dims.depth: neither the kernel, the reference, a shape"));
  CHECK(has(error_of(request).hint, "Leave depth out; the sizes of solve are rows, cols"));
  Source reading = kReference;
  reading.text += "\n// depth\n";
  CHECK(plan_contract(request, kKernel, reading, some_processor()));
}

TEST_CASE("cases inherit the common dims and keep their own", "[planner]") {
  auto request = task();
  request.cases = {{{{"rows", 8}}, 2, false}, {{{"rows", 16}, {"cols", 4}}, 1, true}};
  const auto contract = plan_contract(request, kKernel, kReference, some_processor());

  REQUIRE(contract);
  CHECK(contract->cases[0].dims == Dims{{"rows", 8}, {"cols", 200}});
  CHECK(contract->cases[1].dims == Dims{{"rows", 16}, {"cols", 4}});
  CHECK_FALSE(contract->cases[1].hidden);  // only the server hides cases
}

TEST_CASE("given tensors must match the signature", "[planner]") {
  auto request = task();
  request.tensors = {{"x", DType::f32, {"rows", "cols"}, Role::in, "normal"},
                     {"y", DType::f32, {"rows", "cols"}, Role::out, "normal"}};
  REQUIRE(plan_contract(request, kKernel, kReference, some_processor()));

  auto wrong = request;
  wrong.tensors[1].dtype = DType::f16;
  CHECK(has(error_of(wrong).message,
            "tensors.y.dtype: it is float16 here, but float32 in the signature"));
  wrong = request;
  wrong.tensors[0].role = Role::inout;
  CHECK(has(error_of(wrong).message, "a pointer to const"));
  wrong = request;
  wrong.tensors[0].shape = {"rows", "colls"};
  CHECK(has(error_of(wrong).message, "unknown name \"colls\""));
  wrong = request;
  wrong.tensors.pop_back();
  CHECK(
      has(error_of(wrong).message, "tensors: the pointer parameter y of the entry is not listed"));
  wrong = request;
  wrong.tensors[0].init = "indices(rows)";
  CHECK(has(error_of(wrong).message, "integer tensor"));
}

TEST_CASE("scalars must be given, exist and fit", "[planner]") {
  auto request = task();
  request.scalars.clear();
  CHECK(has(error_of(request).message, "alpha"));
  request = task();
  request.scalars["beta"] = 1;
  CHECK(has(error_of(request).message, "scalars.beta"));
}

TEST_CASE("the reference must take the kernel's parameters", "[planner]") {
  const Source other{"ref.cpp", "extern \"C\" void reference(const float* x, float* y, int n) {}",
                     ""};
  const auto contract = plan_contract(task(), kKernel, other, some_processor());

  REQUIRE_FALSE(contract);
  CHECK(has(contract.error().message, "solve"));
}

TEST_CASE("tolerances of ref.py apply unless the call gives its own", "[planner]") {
  const Source python{"ref.py", "import numpy\natol = 0.25\nrtol=1e-2\ndef reference(**k): pass\n",
                      ""};
  auto request = task();
  request.rtol = 0.5;
  const auto contract = plan_contract(request, kKernel, python, some_processor());

  REQUIRE(contract);
  CHECK(contract->atol == 0.25);
  CHECK(contract->rtol == 0.5);
}

TEST_CASE("work is evaluated when the contract is made", "[planner]") {
  auto request = task();
  request.work = Work{"8*rows*colls", "rows", DType::f32};
  CHECK(has(error_of(request).message, "work: expression"));
}

TEST_CASE("a HIP kernel is only built: a run says what does that", "[planner]") {
  const auto contract = plan_contract(
      task(), {"kernel.hip", "extern \"C\" void solve(float* x) {}", ""}, kReference, hopper());
  REQUIRE_FALSE(contract);
  CHECK(contract.error().code == ErrorCode::unavailable);
  CHECK(has(contract.error().hint, "disassemble"));
}

TEST_CASE("a host kernel does not run on a GPU and the error says so", "[planner]") {
  const auto contract = plan_contract(task(), kKernel, kReference, hopper());
  REQUIRE_FALSE(contract);
  CHECK(has(contract.error().message, "need a host device"));
}

TEST_CASE("baselines accept the packages' names", "[planner]") {
  CHECK(*resolve_baselines({"eager", "torch.compile", "pytorch-eager"}) ==
        std::vector<std::string>{"pytorch-eager", "torch-compile"});
  CHECK(resolve_baselines({"all"})->size() == 3);
  CHECK(resolve_baselines({"none"})->empty());
  CHECK(*resolve_baselines({"cublas"}) == std::vector<std::string>{"vendor"});
  CHECK_FALSE(resolve_baselines({"mkl"}));
}

TEST_CASE("weaknesses of a contract are reported", "[planner]") {
  const Source kernel{"g.cpp", "void solve(const int* idx, float* y, int n) {}", ""};
  const Source reference{"r.cpp", "extern \"C\" void reference(const int* idx, float* y, int n) {}",
                         ""};
  TaskRequest request;
  request.dims = {{"n", 64}};
  request.seed = 42;
  const auto contract = plan_contract(request, kernel, reference, some_processor());
  REQUIRE(contract);
  const auto warnings = contract_warnings(*contract);
  const auto warned = [&](std::string_view code) {
    return std::ranges::find(warnings, code, &Reason::code) != warnings.end();
  };

  CHECK(warned("untyped_indices"));
  CHECK(warned("work_undeclared"));
  CHECK(warned("fixed_seed"));
  CHECK(warned("missing_extern_c"));
}

TEST_CASE("hidden cases keep factors and relations and depend on the seed", "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"a", "b"}, Role::out, "normal"}};
  contract.cases = {
      {{{"a", 4096}, {"b", 4096}, {"hd", 64}, {"wide", 262144}}, 1, false}};  // 64*4096
  const auto cases = hidden_cases(contract, "secret", 3);

  REQUIRE(cases.size() == 3);
  for (const auto& one : cases) {
    CHECK(one.hidden);
    CHECK(one.dims.at("a") == one.dims.at("b"));
    CHECK(one.dims.at("a") % 128 == 0);
    CHECK(one.dims.at("a") < 4096);
    CHECK(one.dims.at("hd") == 64);
    CHECK(one.dims.at("wide") == 64 * one.dims.at("a"));
  }
  CHECK(hidden_cases(contract, "secret", 3)[0].dims == cases[0].dims);
  CHECK(hidden_cases(contract, "other", 3)[0].dims != cases[0].dims);
}

TEST_CASE("one hidden case has no more factors of two than the contract promises", "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"n", "m"}, Role::out, "normal"}};
  contract.cases = {{{{"n", 1 << 20}, {"m", 3000}}, 1, false}};
  const auto rounded_down = [&](int seed) {  // a kernel that takes multiples of 1024 passes
    return std::ranges::all_of(hidden_cases(contract, std::to_string(seed), 2),
                               [](const Case& one) { return one.dims.at("n") % 1024 == 0; });
  };
  const auto seeds = std::views::iota(0, 300);

  CHECK(std::ranges::any_of(seeds, rounded_down));  // as older runs draw
  contract.judge = JudgeRules{.version = 6};
  CHECK(std::ranges::none_of(seeds, rounded_down));
  for (const int seed : seeds) {
    const auto dims = hidden_cases(contract, std::to_string(seed), 2).at(0).dims;
    CHECK(dims.at("n") % 256 == 128);
    CHECK(dims.at("m") % 16 == 8);
  }
  // The honest twin: a kernel for multiples of 1024 says so.
  contract.where = {"n % 1024 == 0"};
  CHECK_FALSE(hidden_cases(contract, "s", 2).empty());
}

TEST_CASE("odd hidden sizes are drawn only where any size must work", "[planner]") {
  Contract contract;
  contract.tensors = {{"x", DType::f32, {"n"}, Role::out, "normal"}};
  contract.cases = {{{{"n", 100'000}}, 1, false}};  // 2^5 * 3125
  const auto all_multiples = [](const std::vector<Case>& cases) {
    return std::ranges::all_of(cases, [](const Case& one) { return one.dims.at("n") % 32 == 0; });
  };

  CHECK(all_multiples(hidden_cases(contract, "s", 8)));
  contract.any_size = true;
  CHECK_FALSE(all_multiples(hidden_cases(contract, "s", 8)));
}

TEST_CASE("relations are between known names, and hold for what is given", "[planner]") {
  auto request = task();
  const auto message = [&](const std::string& relation) {
    request.where = {"rows > 1", relation};
    return error_of(request).message;
  };

  CHECK(message("rows <= 2*cols") == "no error");
  CHECK(message("rows == cols") ==
        "where[1]: \"rows == cols\" does not hold for cases[0] (cols=200 rows=300)");
  CHECK(has(message("rows <= columns"), "where[1]: expression \"columns\": unknown name"));
  CHECK(has(message("rows"), "where[1]: \"rows\" compares nothing"));
  CHECK(has(message("rows <="), "where[1]: expression"));
}

TEST_CASE("relations that leave no size but the given ones are named", "[planner]") {
  const auto warned = [](const std::vector<std::string>& where) {
    auto request = task();
    request.where = where;
    const auto contract = plan_contract(request, kKernel, kReference, some_processor());
    if (!contract) FAIL(contract.error().message);
    const auto warnings = contract_warnings(*contract);
    return std::ranges::find(warnings, "no_hidden_sizes", &Reason::code) != warnings.end();
  };

  CHECK(warned({"rows == 300", "cols == 200"}));
  CHECK_FALSE(warned({"rows >= cols"}));
}

TEST_CASE("a whole number beyond 2^53 is exact as a size and is refused as a scalar", "[planner]") {
  constexpr std::int64_t kPrime = (std::int64_t{1} << 61) - 1;
  const Source kernel{"k.cpp",
                      "extern \"C\" void solve(const float* x, float* y, int n, long p) {}", ""};
  const Source reference{
      "ref.cpp", "extern \"C\" void reference(const float* x, float* y, int n, long p) {}", ""};
  TaskRequest request;
  request.dims = {{"n", 1000}, {"p", kPrime}};
  request.where = {"p == 2305843009213693951"};
  request.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                     {"y", DType::f32, {"n"}, Role::out, "normal"}};
  const auto contract = plan_contract(request, kernel, reference, some_processor());
  request.dims.erase("p");
  request.scalars = {{"p", static_cast<double>(kPrime)}};
  const auto scalar = plan_contract(request, kernel, reference, some_processor());
  if (!contract) FAIL(contract.error().message);
  CHECK(contract->cases[0].dims.at("p") == kPrime);
  for (const auto& hidden : hidden_cases(*contract, "seed", 3))
    CHECK(hidden.dims.at("p") == kPrime);
  REQUIRE_FALSE(scalar);
  CHECK(
      has(scalar.error().message, "scalars.p: 2.305843009213694e+18 does not fit the type int64"));
}

TEST_CASE("shapes may use scalars that are whole numbers", "[planner]") {
  const Source kernel{
      "k.cpp", "extern \"C\" void solve(const float* x, float* y, int n, int k, float scale) {}",
      ""};
  const Source reference{
      "ref.cpp",
      "extern \"C\" void reference(const float* x, float* y, int n, int k, float scale) {}", ""};
  TaskRequest request;
  request.dims = {{"n", 1000}};
  request.scalars = {{"k", -2}, {"scale", 0.5}};
  request.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                     {"y", DType::f32, {"n + k"}, Role::out, "normal"}};

  const auto contract = plan_contract(request, kernel, reference, some_processor());
  request.tensors[1].shape = {"n * scale"};
  const auto fraction = plan_contract(request, kernel, reference, some_processor());

  if (!contract) FAIL(contract.error().message);
  const auto layout = layout_of(*contract, contract->cases[0].dims);
  REQUIRE(layout);
  CHECK(layout->buffers[1].elements == 998);
  REQUIRE_FALSE(fraction);
  CHECK(has(fraction.error().message, "unknown name \"scale\"; known: k, n"));
}

TEST_CASE("an input can only be given by a function that exists", "[planner]") {
  auto request = task();
  request.tensors = {{"x", DType::f32, {"rows", "cols"}, Role::in, "given"},
                     {"y", DType::f32, {"rows", "cols"}, Role::out, "normal"}};
  const Source without{"ref.py", "def reference(**k): pass\n", ""};
  const Source with{"ref.py", "def inputs(rows, seed): pass\ndef reference(**k): pass\n", ""};

  CHECK(has(error_of(request).message,
            "tensors.x.init: given, but ref.cpp has no function inputs()"));
  CHECK_FALSE(plan_contract(request, kKernel, without, some_processor()));
  CHECK(plan_contract(request, kKernel, with, some_processor()));
}

TEST_CASE("a device-only kernel is planned from its launch", "[planner]") {
  const Source kernel{"scale.cu", "__global__ void scale(const float* x, float* y, int n) {}", ""};
  const Source reference{"ref.cu",
                         "extern \"C\" void reference(const float* x, float* y, int n) {}", ""};
  TaskRequest request;
  request.dims = {{"n", 1000}, {"tile", 250}};
  request.launch = Launch{{"n / tile"}, {"256"}, "0"};
  const auto contract = plan_contract(request, kernel, reference, hopper());

  REQUIRE(contract);
  CHECK(contract->entry == "scale");
  REQUIRE(contract->parameters.size() == 4);
  CHECK(contract->parameters[3].name == "tile");
  CHECK(contract->parameters[3].dtype == DType::i64);
  request.launch->block = {"2048"};
  const auto refused = plan_contract(request, kernel, reference, hopper());
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "2048"));
  CHECK(has(error_of([] {
              auto host_task = task();
              host_task.launch = Launch{{"1"}, {"1"}, "0"};
              return host_task;
            }())
                .message,
            "launch"));
}

TEST_CASE("dims under other names are shown beside the missing ones", "[planner]") {
  auto request = task();
  request.dims = {{"M", 300}, {"cols", 200}};
  CHECK(
      has(error_of(request).message, "no size was given for rows; sizes were given for: M, cols"));
}

TEST_CASE("buffers too large for the device are refused with both sizes", "[planner]") {
  auto device = some_processor();
  device.memory_bytes = std::int64_t{1} << 20;
  auto request = task();
  request.dims = {{"rows", 1024}, {"cols", 1024}};  // two buffers of 4 MiB and their guards
  const auto contract = plan_contract(request, kKernel, kReference, device);
  REQUIRE_FALSE(contract);
  CHECK(contract.error().code == ErrorCode::too_large);
  CHECK(has(contract.error().message, "cases[0]"));
  CHECK(has(contract.error().message, device.name));
}

TEST_CASE("sizes that overflow are refused, not wrapped", "[planner]") {
  auto request = task();
  request.dims = {{"rows", 2147483647}, {"cols", 2147483647}};  // 2^62 elements
  CHECK_FALSE(plan_contract(request, kKernel, kReference, some_processor()));
  request.tensors = {{"x", DType::f32, {"rows*cols*rows"}, Role::in, "normal"},
                     {"y", DType::f32, {"rows"}, Role::out, "normal"}};
  CHECK(has(error_of(request).message, "tensor x"));
}

TEST_CASE("tolerances below the rounding of the type are named", "[planner]") {
  auto request = task();
  request.atol = 0;
  request.rtol = 1e-9;
  auto contract = plan_contract(request, kKernel, kReference, some_processor());
  REQUIRE(contract);
  const auto named = [&] {
    const auto warnings = contract_warnings(*contract);
    return std::ranges::find(warnings, "tight_tolerance", &Reason::code) != warnings.end();
  };
  CHECK(named());
  contract->rtol = 1e-6;
  CHECK_FALSE(named());
}

TEST_CASE("hidden sizes that cannot be launched are not drawn", "[planner]") {
  const Source kernel{"scale.cu", "__global__ void scale(const float* x, float* y, int n) {}", ""};
  const Source reference{"ref.cu",
                         "extern \"C\" void reference(const float* x, float* y, int n) {}", ""};
  TaskRequest request;
  request.dims = {{"n", 4096}};
  request.launch = Launch{{"n / 4096"}, {"256"}, "0"};  // 0 blocks below the given size
  const auto contract = plan_contract(request, kernel, reference, hopper());
  REQUIRE(contract);
  CHECK(hidden_cases(*contract, "seed", 4).empty());
}
