#include "server/runs/records/source_text.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet {
namespace {

TEST_CASE("comments and white space do not count as a change of a C++ source", "[runs]") {
  CHECK(stripped_source("int a; // one\n/* two */ int b;", false) ==
        stripped_source("int a;int b;", false));
}

TEST_CASE("what looks like a comment inside a string is kept", "[runs]") {
  CHECK(stripped_source("f(\"a // b\");", false) == "f(\"a // b\");");
  CHECK(stripped_source("f(R\"x(/* \" )x\");", false) == "f(R\"x(/* \" )x\");");
  CHECK(stripped_source("c = '\"'; // q", false) == "c='\"';");
  CHECK(stripped_source("n = 1'000; // '", false) == "n=1'000;");
}

TEST_CASE("changed text inside a string is a change", "[runs]") {
  CHECK(stripped_source("asm(\"ld.a b\");", false) != stripped_source("asm(\"ld.ab\");", false));
}

TEST_CASE("Python comments are stripped, strings are not", "[runs]") {
  CHECK(stripped_source("x = 1  # one\n", true) == "x=1");
  CHECK(stripped_source("s = '#no'", true) == "s='#no'");
  CHECK(stripped_source("s = \"\"\"a # b\n\"\"\"", true) == "s=\"\"\"a # b\n\"\"\"");
}

TEST_CASE("a copy whose own names are changed is the same kernel", "[runs]") {
  const std::string kernel =
      "#define BLOCK 16\nextern \"C\" void solve(const float* a, float* b, int n) {\n"
      "  float sum = 0;\n  for (int i = 0; i < n; ++i) sum += expf(a[i]);\n  b[0] = sum;\n}\n";
  const auto with = [&](std::initializer_list<std::pair<const char*, const char*>> changes) {
    std::string text = kernel;
    for (const auto& [from, to] : changes)
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 8))
        text.replace(at, std::string(from).size(), to);
    return same_but_for_names(kernel, text, false);
  };
  CHECK(with({}));
  CHECK(with({{"sum", "total_of_it"}}));
  CHECK(with({{"BLOCK", "TILE"}, {"sum", "s"}}));
  CHECK(with({{"float sum = 0;", "float sum = 0;  // faster"}}));

  CHECK(same_but_for_names("n = 1'000; // one", "n = 1'000; // two", false));

  // Honest changes: another type, intrinsic, number or order, and one name for two.
  CHECK_FALSE(with({{"float sum", "double sum"}}));
  CHECK_FALSE(with({{"expf", "__expf"}}));
  CHECK_FALSE(with({{"16", "32"}}));
  CHECK_FALSE(with({{"sum += expf(a[i])", "sum += expf(b[i])"}}));
  CHECK_FALSE(with({{"b[0] = sum", "b[0] = sum + n"}}));
}

TEST_CASE("a Python copy whose own names are changed is the same kernel", "[runs]") {
  const std::string kernel =
      "import numpy as np\ndef run_kernel(x, y):\n    total = np.sum(x)\n    y[:] = total\n";
  CHECK(same_but_for_names(
      kernel, "import numpy as np\ndef run_kernel(x, y):\n    t = np.sum(x)  # one\n    y[:] = t\n",
      true));
  CHECK_FALSE(same_but_for_names(
      kernel,
      "import numpy as np\ndef run_kernel(x, y):\n    total = np.max(x)\n    y[:] = total\n",
      true));
}

TEST_CASE("an unclosed comment or string ends with the text", "[runs]") {
  CHECK(stripped_source("a /* b", false) == "a");
  CHECK(stripped_source("a \"b\\", false) == "a\"b\\");
}

TEST_CASE("kernel files are named and accepted by implementation", "[runs]") {
  CHECK(kernel_file_name(Implementation::cutlass) == "kernel.cu");
  CHECK(kernel_file_name(Implementation::cute_dsl) == "kernel.py");
  CHECK(has_fitting_suffix("fast.cc", Implementation::host_cpp));
  CHECK(has_fitting_suffix("pasted", Implementation::triton));
  CHECK_FALSE(has_fitting_suffix("kernel.cpp", Implementation::cuda_cpp));
}

}  // namespace
}  // namespace ratchet
