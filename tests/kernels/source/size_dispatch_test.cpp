// The generated source that chooses between kernels by size.

#include <catch2/catch_test_macros.hpp>

#include "kernels/source/size_dispatch.h"

namespace ratchet {
namespace {

Contract contract(Implementation implementation = Implementation::host_cpp) {
  Contract contract;
  contract.implementation = implementation;
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                         {"y", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  return contract;
}

constexpr const char* kFirst =
    "#include <cmath>\n#define TILE 4\n// solve the small ones\n"
    "static int half(int n) { return n / TILE; }\n"
    "extern \"C\" void solve(const float* __restrict__ x, float* y, int n) { y[0] = x[half(n)]; "
    "}\n";
constexpr const char* kSecond =
    "#include <cmath>\n#include <vector>\n#define TILE 8\n"
    "static int half(int n) { return n / TILE; }\n"
    "const char* name = \"solve\";\n"
    "extern \"C\" void solve(const float* a, float* b, int count) { b[0] = a[half(count)]; }\n";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("variants are separate: own namespaces, own macros, own entries", "[dispatch]") {
  const auto source = dispatcher_source(contract(), {{"v1", kFirst}, {"v2", kSecond}},
                                        {{{{"n", 512}}, 1}, {{{"n", 65536}}, 0}}, 0);
  REQUIRE(source);
  INFO(*source);
  CHECK(count(*source, "#include <vector>") == 1);
  CHECK(count(*source, "#undef TILE") == 2);
  CHECK(source->find("namespace variant_v2 {") != std::string::npos);
  CHECK(source->find("void solve_v2(const float* a") != std::string::npos);
  CHECK(source->find("variant_v2::solve_v2(p0, p1, p2)") != std::string::npos);
  CHECK(source->find("\"solve\"") != std::string::npos);           // a literal is no name
  CHECK(source->find("// solve the small") != std::string::npos);  // nor is a comment
  CHECK(source->find("{{9.000000}, 1}") != std::string::npos);     // log2 of 512
}

TEST_CASE("sizes that no case names go to the nearest by logarithms", "[dispatch]") {
  const auto source =
      dispatcher_source(contract(), {{"v1", kFirst}, {"v2", kSecond}}, {{{{"n", 512}}, 1}}, 0);
  REQUIRE(source);
  CHECK(source->find("std::log2(static_cast<double>(p2))") != std::string::npos);
  CHECK(source->find("int chosen = 0;") != std::string::npos);
}

TEST_CASE("Python variants become modules that inspect can read", "[dispatch]") {
  const std::string text = "def run_kernel(x, y, n):\n    y[:] = \"a\\\"b\"\n";
  const auto source = dispatcher_source(contract(Implementation::host_python),
                                        {{"v1", text}, {"v2", text}}, {{{{"n", 512}}, 1}}, 0);
  REQUIRE(source);
  INFO(*source);
  CHECK(source->find("linecache.cache") != std::string::npos);
  CHECK(source->find("def run_kernel(**arguments):") != std::string::npos);
  CHECK(source->find(").run_kernel,") != std::string::npos);
  CHECK(source->find("y[:] = \\\"a\\\\\\\"b\\\"\\n") != std::string::npos);
}

TEST_CASE("variants that no host function can choose between are refused", "[dispatch]") {
  auto device_only = contract();
  device_only.launch = Launch{{"n"}, {"256"}, "0"};
  CHECK(dispatcher_source(device_only, {{"v1", kFirst}}, {}, 0).error().code ==
        ErrorCode::unavailable);
  auto without_dims = contract();
  without_dims.parameters.pop_back();
  CHECK(dispatcher_source(without_dims, {{"v1", kFirst}}, {}, 0).error().code ==
        ErrorCode::unavailable);
}

}  // namespace
}  // namespace ratchet
