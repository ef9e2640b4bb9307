// Tasks without tensors: the extents of flat buffers are found from the reference.

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/judge/extents.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// C = A B for flat buffers, as task packages give it; `depth` is how much of K it adds up.
Source flat_product(const std::string& name, const std::string& depth) {
  return {name == "solve" ? "kernel.cpp" : "ref.cpp",
          fmt::format("extern \"C\" void {}(const float* A, const float* B, float* C,\n"
                      "    int M, int N, int K) {{\n"
                      "  for (int i = 0; i < M; ++i)\n"
                      "    for (int j = 0; j < N; ++j) {{\n"
                      "      float sum = 0;\n"
                      "      for (int k = 0; k < {}; ++k) sum += A[i * K + k] * B[k * N + j];\n"
                      "      C[i * N + j] = sum;\n"
                      "    }}\n}}\n",
                      name, depth),
          ""};
}

Source python(const std::string& body) {
  return {"ref.py", "import numpy as np\ndef reference(A, B, C, M, N, K):\n" + body, ""};
}

const std::string kSliced =
    "    a, b = A[:M * K].reshape(M, K), B[:K * N].reshape(K, N)\n"
    "    C[:M * N] = (a.astype(np.float64) @ b).reshape(-1)\n";
const std::string kReshaped = "    return A.reshape(M, K) @ B.reshape(K, N)\n";
const std::string kInPlace = "    C[:] = (A.reshape((M, K)) @ B.reshape((K, N))).reshape(-1)\n";

/// Timed on a square, checked on an oblong, too.
TaskRequest square(std::int64_t size) {
  TaskRequest task;
  task.cases = {{{{"M", size}, {"N", size}, {"K", size}}, 1, false},
                {{{"M", 65}, {"N", 33}, {"K", 129}}, 0, false}};
  return task;
}

std::vector<std::string> shapes_of(const Contract& contract) {
  std::vector<std::string> shapes;
  for (const auto& tensor : contract.tensors) shapes.push_back(tensor.shape.front());
  return shapes;
}

const std::vector<std::string> kShapes{"K*M", "K*N", "M*N"};

}  // namespace

TEST_CASE("an extent is written as the simplest expression that gives it", "[extents]") {
  const std::vector<Dims> settings{{{"h", 7}, {"k", 2}, {"c", 13}},
                                   {{"h", 11}, {"k", 3}, {"c", 17}},
                                   {{"h", 7}, {"k", 3}, {"c", 13}}};
  const auto found = [&](const auto& extent) {
    std::vector<std::int64_t> values;
    for (const auto& dims : settings)
      values.push_back(extent(dims.at("h"), dims.at("k"), dims.at("c")));
    return expression_for(settings, values).value_or("none");
  };

  CHECK(found([](auto, auto, auto) { return 12; }) == "12");
  CHECK(found([](auto h, auto, auto c) { return h * c; }) == "c*h");
  CHECK(found([](auto h, auto, auto) { return h * h; }) == "h*h");
  CHECK(found([](auto h, auto, auto c) { return 6 * h * c; }) == "6*c*h");
  CHECK(found([](auto h, auto, auto) { return h + 1; }) == "h + 1");
  CHECK(found([](auto h, auto k, auto c) { return (h - k + 1) * c; }) == "(h - k + 1)*c");
  CHECK(found([](auto h, auto k, auto c) { return h * 1000 + 77 * k * c; }) == "none");
}

TEST_CASE("a flat product without tensors gets the extents that its reference uses",
          "[lab][extents][slow]") {
  LabFixture fixture;
  const auto kernel = flat_product("solve", "K");

  for (const auto& reference :
       {flat_product("reference", "K"), python(kSliced), python(kReshaped), python(kInPlace)}) {
    INFO(reference.text);
    const auto contract = fixture.lab->plan(square(96), kernel, reference);
    if (!contract) FAIL(contract.error().message);
    CHECK(shapes_of(*contract) == kShapes);
    const auto report =
        fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
    if (!report) FAIL(report.error().message);
    CHECK(report->passed);
  }
}

TEST_CASE("a flat product that leaves out the end of K is found at every size", "[lab][extents]") {
  LabFixture fixture;
  const auto contract =
      fixture.lab->plan(square(96), flat_product("solve", "K - 1"), python(kSliced));
  if (!contract) FAIL(contract.error().message);

  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("the same product with tensors given keeps them", "[lab][extents]") {
  LabFixture fixture;
  auto task = square(96);
  task.tensors = {{"A", DType::f32, {"M", "K"}, Role::in, "normal"},
                  {"B", DType::f32, {"K", "N"}, Role::in, "normal"},
                  {"C", DType::f32, {"M", "N"}, Role::out, "normal"}};

  const auto contract =
      fixture.lab->plan(task, flat_product("solve", "K"), python("    return A @ B\n"));

  if (!contract) FAIL(contract.error().message);
  CHECK(contract->tensors[0].shape == std::vector<std::string>{"M", "K"});
  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  REQUIRE(report);
  CHECK(report->passed);
}

TEST_CASE("a reference that takes buffers whole keeps the compatible rule", "[lab][extents]") {
  LabFixture fixture;
  TaskRequest task;
  task.dims = {{"rows", 64}, {"cols", 96}};
  const Source kernel{"kernel.cpp",
                      "extern \"C\" void solve(const float* x, float* y, int rows, int cols) {\n"
                      "  for (int i = 0; i < rows * cols; ++i) y[i] = 2 * x[i];\n}\n",
                      ""};

  const auto contract = fixture.lab->plan(
      task, kernel, {"ref.py", "def reference(x, y, rows, cols):\n    y[:] = 2 * x\n", ""});

  if (!contract) FAIL(contract.error().message);
  CHECK(shapes_of(*contract) == std::vector<std::string>{"cols*rows", "cols*rows"});
}

TEST_CASE("extents that cannot be told are asked for, with an example for the signature",
          "[lab][extents]") {
  LabFixture fixture;
  // It does not run on buffers that are too large.
  const auto contract = fixture.lab->plan(
      square(96), flat_product("solve", "K"),
      python("    assert A.size == M * K and B.size == K * N and C.size == M * N\n"
             "    return A.reshape(M, K) @ B.reshape(K, N)\n"));

  REQUIRE_FALSE(contract);
  const auto& error = contract.error();
  INFO(error.message);
  CHECK(error.message ==
        "tensors: the sizes of the buffers cannot be told from ref.py; with M*N elements each, it "
        "fails at K=129 M=65 N=33");
  CHECK(error.hint ==
        R"(Give their shapes: "tensors": [{"name": "A", "dtype": "float32", "shape": ["…"], )"
        R"("role": "in"}, {"name": "B", "dtype": "float32", "shape": ["…"], "role": "in"}, )"
        R"({"name": "C", "dtype": "float32", "shape": ["…"], "role": "out"}].)");
}
