// Compiled kernels for problems whose own kernels are in Python, through the built server.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/core/fields.h"
#include "tests/support/imported_problem.h"
#include "tests/support/page_blocks.h"

namespace ratchet::test {
namespace {

constexpr const char* kImportedProblems = "docs/problems.md";

Json run_of(const std::string& kernel, const std::string& output) {
  return {{"problem", "problem"},
          {"implementation", "host-cpp"},
          {"kernel", {{"text", kernel}}},
          {"output_dir", output}};
}

/// A message on one line: a terminal wraps it.
std::string unwrapped(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (c != '\n' && c != ' ')
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  return line;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("the module in docs/problems.md is a task for C++, with its state as a buffer",
          "[readme][python]") {
  const Imported task("bias_gelu.py",
                      {{"bias_gelu.py", block_with("class Model(nn.Module)", kImportedProblems)}});
  const auto kernel = block_with("extern \"C\" void solve(const float* x", kImportedProblems);

  CHECK(task.run_passes(run_of(kernel, "right")));
  CHECK_FALSE(task.run_passes(
      run_of(replaced(kernel, " + bias[at % features]", " + 0 * bias[0]"), "without_bias")));
}

TEST_CASE("a C++ kernel with other names than a module's is told the module's", "[python]") {
  const Imported task("bias_gelu.py",
                      {{"bias_gelu.py", block_with("class Model(nn.Module)", kImportedProblems)}});
  const auto kernel = block_with("extern \"C\" void solve(const float* x", kImportedProblems);

  for (const auto& other : {replaced(kernel, "const float* bias", "const float* shift"),
                            std::string("int nothing;\n")}) {
    const auto done = task.answered("create_run", run_of(other, "refused"));
    CHECK_FALSE(done.status.clean());
    CHECK(unwrapped(done.out + done.err)
              .find("Kernels of problem take, by name: pointers x (float32, in), bias (float32, "
                    "in), out (float32, out); sizes, those that it uses of batch_size, "
                    "features.") != std::string::npos);
  }
  const auto none = task.answered(
      "create_run",
      {{"problem", "problem"}, {"implementation", "host-cpp"}, {"output_dir", "refused"}});
  CHECK(unwrapped(none.out + none.err).find("problem brings no host-cpp kernel to start from") !=
        std::string::npos);
}

TEST_CASE("the function in docs/problems.md is a task for C++, with all its outputs",
          "[readme][python]") {
  const Imported task(
      "scaled_add",
      {{"scaled_add/definition.json", block_with("\"name\": \"scaled_add\"", kImportedProblems)},
       {"scaled_add/workload.jsonl", block_with("\"axes\": {\"rows\": 48}", kImportedProblems)}});
  const std::string kernel =
      R"(extern "C" void solve(const float* x, const float* r, float* y, float* first,
                       int rows) {
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < 64; ++col) {
      const int at = row * 64 + col;
      y[at] = x[at] + 0.5F * r[at];
      if (col < 32) first[row * 32 + col] = y[at];
    }
}
)";

  CHECK(task.run_passes(run_of(kernel, "right")));
  CHECK_FALSE(task.run_passes(run_of(replaced(kernel, "0.5F * r", "0.49F * r"), "other_scale")));
}

}  // namespace ratchet::test
