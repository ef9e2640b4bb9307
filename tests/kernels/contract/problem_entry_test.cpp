#include "kernels/contract/problem_entry.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/contract/planner.h"
#include "tests/support/devices.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

const Source kProblemReference{
    "reference.cpp", "extern \"C\" void reference(const float* x, float* y, int rows, int cols) {}",
    ""};
const Source kProblemPython{"ref.py", "def reference(x, y, rows, cols): pass\n", ""};

/// What planning says of a caller's kernel with these parameters.
std::string said_of_entry(const std::string& parameters,
                          const Source& reference = kProblemReference, bool problem = true) {
  TaskRequest task;
  if (problem) task.problem = "softmax";
  task.dims = {{"rows", 30}, {"cols", 20}};
  task.tensors = {{"x", DType::f32, {"rows", "cols"}, Role::in, "normal"},
                  {"y", DType::f32, {"rows", "cols"}, Role::out, "normal"}};
  const Source kernel{"kernel.cpp", "extern \"C\" void solve(" + parameters + ") {}", ""};
  const auto contract = plan_contract(task, kernel, reference, some_processor());
  return contract ? "" : contract.error().message + "\n" + contract.error().hint;
}

constexpr const char* kProblemEntry =
    "Kernels of softmax define extern \"C\" void solve(const float* x, float* y, int rows, int "
    "cols).";

}  // namespace

TEST_CASE("a kernel with other parameters than its problem's is told the problem's", "[planner]") {
  for (const std::string other :
       {"const float* in, float* out, int rows, int cols", "const float* x, float* y, int m, int n",
        "const float* x, float* y, int rows", "float* y, const float* x, int rows, int cols",
        "const double* x, float* y, int rows, int cols",
        "const float* x, const float* y, int rows, int cols",
        "const float* x, float* y, long rows, long cols"})
    CHECK(said_of_entry(other) == "kernel.cpp:1: solve(" + other +
                                      ") does not have the parameters of problem softmax\n" +
                                      kProblemEntry);
}

TEST_CASE("a kernel that cannot be read is told the problem's parameters, too", "[planner]") {
  const auto said = said_of_entry("const void* x, void* y, int rows, int cols");
  CHECK(said.find("the type of parameter \"const void* x\" is not supported") != said.npos);
  CHECK(said.ends_with(kProblemEntry));
}

TEST_CASE("beside a reference in Python the names count, in any order", "[planner]") {
  CHECK(said_of_entry("float* y, const float* x, int cols, int rows", kProblemPython).empty());
  CHECK(said_of_entry("const float* in, float* y, int rows, int cols", kProblemPython)
            .ends_with("Kernels of softmax take, by name: pointers x (float32, in), y (float32, "
                       "out); sizes, those that it uses of cols, rows."));
}

TEST_CASE("a problem's own parameters are planned, and other faults are said as of any task",
          "[planner]") {
  const std::string own = "const float* x, float* y, int rows, int cols";
  CHECK(said_of_entry(own).empty());
  CHECK(said_of_entry("float* x, float* y, int rows, int cols").empty());
  CHECK(said_of_entry(own + ", float alpha").find("problem") == std::string::npos);
  CHECK(said_of_entry("const float* in, float* y, int rows, int cols", kProblemReference, false)
            .starts_with("tensors: the pointer parameter in of the entry is not listed"));
}

TEST_CASE("a reference with the entry's names in another order is refused", "[planner]") {
  const Source swapped{
      "reference.cpp",
      "extern \"C\" void reference(float* y, const float* x, int rows, int cols) {}", ""};
  const Source renamed{"reference.cpp",
                       "extern \"C\" void reference(const float* a, float* b, int n, int m) {}",
                       ""};
  const auto* const own = "const float* x, float* y, int rows, int cols";
  CHECK(said_of_entry(own, swapped, false)
            .starts_with("reference.cpp:1: reference takes y, x, rows, cols, but solve takes x, y, "
                         "rows, cols"));
  CHECK(said_of_entry(own, renamed, false).empty());
}
